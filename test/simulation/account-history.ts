import { type History, keySetup, makeStep, type Operation, PLAIN, type Step } from './history.ts'
import { Random, urn } from './random.ts'

/** The operator's acts on an account. */
const ACT_WEIGHTS = { grant: 3, correct: 4, suspend: 2, resume: 4, close: 1, 'new key': 2, adopt: 3 }
export type AccountAct = keyof typeof ACT_WEIGHTS

/** The account of a history. Its first keys are the account's, and the others may be adopted. */
export type AccountSetup = {
  readonly credits: bigint
  readonly purses: number
  readonly notifyBelow?: bigint | undefined
}

const NOON = Date.UTC(2026, 10, 15, 12)
const ACTS = urn(ACT_WEIGHTS)
/** A purse that is idle gives its credits back after an hour. */
const WAITS = [1, 20, 500, 1_100, 20_000, 970_000, 3_700_000, 3_700_000]
const SHORT_WAITS = [1, 20, 500]
const OPERATIONS = urn({ suspend: 2, resume: 3, revoke: 2, limits: 1, 'end grace': 1 })
const CALM = { call: 14, deliver: 90, wait: 6, sweep: 5, account: 6, operate: 3, ask: 1 }

/** The subject of a history with an account: the probability of each step, and of each act. */
type Theme = {
  readonly kinds: readonly Step['do'][]
  readonly acts?: readonly AccountAct[]
  readonly operations?: readonly Operation[]
  readonly waits?: readonly number[]
  /** All calls are alike and come three at once, and no message is lost. */
  readonly isPlain?: boolean
  readonly purses?: readonly number[]
  readonly length?: number
  readonly credits?: readonly number[]
  /** In the end all acts are done, and then each key is used. */
  readonly isToldAtLast?: boolean
  /** How often the newest message comes first: what was sent before may be overtaken by all that is sent later. */
  readonly newest?: number
  /** Keys that are not of the account when it begins. */
  readonly alone?: number
}

const THEMES: readonly Theme[] = [
  { kinds: urn(CALM) },
  { kinds: urn({ ...CALM, land: 3, crash: 3, skew: 1 }) },
  // Calls that meet each other, and purses that run dry.
  { kinds: urn({ call: 16, deliver: 110, wait: 2, sweep: 3, account: 2, land: 1 }), waits: SHORT_WAITS },
  // Few messages for each call, so that those of several come between each other, and more time than a shortage is remembered.
  {
    kinds: urn({ call: 3, deliver: 100, wait: 4 }),
    isPlain: true,
    newest: 0,
    waits: [1_100],
    purses: [3, 4],
    alone: 0,
    credits: [1_500_000, 2_300_000],
  },
  // Keys that end while they are used.
  { kinds: urn({ call: 12, deliver: 80, wait: 4, sweep: 14, operate: 5, land: 4 }), operations: ['revoke'] },
  // An account and its keys that are suspended and resumed, together and by themselves.
  {
    kinds: urn({ call: 12, deliver: 120, wait: 1, sweep: 2, account: 10, operate: 4, crash: 1 }),
    acts: urn({ suspend: 8, resume: 6, close: 1, 'new key': 5 }),
    operations: urn({ suspend: 2, resume: 3 }),
    purses: [1, 2],
    alone: 0,
    isToldAtLast: true,
  },
  // Acts that overtake each other.
  {
    kinds: urn({ deliver: 50, wait: 3, account: 3 }),
    acts: ['suspend', 'resume'],
    waits: SHORT_WAITS,
    purses: [1],
    alone: 0,
    newest: 0.7,
    isToldAtLast: true,
  },
  // Keys that join while they are granted credits.
  {
    kinds: urn({ call: 8, deliver: 90, wait: 2, sweep: 3, account: 8, ask: 8, crash: 2 }),
    acts: urn({ adopt: 6, suspend: 1, resume: 2, grant: 1 }),
    alone: 2,
  },
]
/** A call with a cap holds about 700,000 nanocredits, or half as much again. */
const CREDITS = [800_000, 1_500_000, 2_300_000, 2_300_000, 4_000_000, 12_000_000]
/** Limits that no history reaches: the money is what they are about. */
const LOOSE = {
  rpm: 600,
  maxConcurrent: 200,
  models: [],
  dailyLimit: 1_000,
  dailyCredits: 50_000_000n,
  monthlyCredits: 50_000_000n,
  dailyLoss: 1_000_000_000n,
}

export function hasAccount(seed: number): boolean {
  return seed % 10 === 1 || seed % 10 === 6
}

/** One customer with 1 to 8 keys, and now and then others that may join. */
export function generateWithAccount(seed: number): History {
  const random = new Random(seed)
  const theme = random.pick(THEMES)
  const { kinds, acts = ACTS, operations = OPERATIONS, waits = WAITS, isPlain = false, length = 120 } = theme
  const style = {
    kinds,
    operations,
    waits,
    faults: isPlain ? 0 : random.pick([0, 0, 0.03, 0.1]),
    inOrder: isPlain ? 0 : random.pick([0, 0, 0.5, 0.95]),
    retries: isPlain ? 0 : random.pick([0, 0, 0.3]),
    failing: 0,
  }
  const newest = theme.newest ?? random.pick([0, 0, 0.7])
  const purses = random.pick(theme.purses ?? [1, 2, 2, 3, 3, 4, 6, 8])
  const alone = theme.alone ?? random.pick([0, 0, 1, 2])
  const credits = BigInt(random.pick(theme.credits ?? CREDITS))
  const keys = Array.from({ length: purses + alone }, (_, i) => {
    const { notifyBelow, ...setup } = keySetup(random)
    const limits = isPlain || random.chance(0.8) ? LOOSE : {}
    return { ...setup, ...limits, ...(i < purses ? { credits: 0n } : { notifyBelow }) }
  })
  return {
    seed,
    closes: false,
    startMs: NOON,
    nodes: 1 + random.below(3),
    catalog: 'one route',
    keys,
    account: { credits, purses, ...(random.chance(0.3) && { notifyBelow: credits - 1n }) },
    steps: [
      ...Array.from({ length: 40 + random.below(length) }, () => {
        const step = stepOf(random, { ...style, acts, newest, isPlain })
        return isPlain && step.do === 'call' ? [0, 1, 2].map((i) => ({ ...step, key: step.key + i })) : [step]
      }).flat(),
      ...(theme.isToldAtLast ? callsAfterAll(random, style) : []),
    ],
  }
}

function callsAfterAll(random: Random, style: Parameters<typeof makeStep>[1]): Step[] {
  const some: Step[] = [...Array<Step>(40).fill({ do: 'deliver', pick: 0, fate: 'answered' }), { do: 'wait', ms: 500 }]
  const calls = Array.from({ length: 4 }, (_, key) => ({
    ...makeStep(random, { ...style, kinds: ['call'] }),
    key,
    secret: 0,
  }))
  return [...some, ...some, ...some, ...calls]
}

export type AccountStyle = Parameters<typeof makeStep>[1] & {
  readonly acts: readonly AccountAct[]
  readonly newest: number
  readonly isPlain: boolean
}

export function stepOf(random: Random, style: AccountStyle): Step {
  const step = makeStep(random, style)
  const key = random.below(10)
  switch (step.do) {
    case 'call': {
      if (style.isPlain) return { ...step, ...PLAIN, key, secret: 0, scripts: ['answers', 'answers'] }
      const endpoint = step.endpoint === 'models' && random.chance(0.8) ? 'whole' : step.endpoint
      const cap = random.pick([10, 10, 10, 100, undefined])
      return { ...step, key, endpoint, ...(step.retryOf === undefined && { cap, pin: undefined, secret: 0 }) }
    }
    case 'deliver':
      return random.chance(style.newest) ? { ...step, pick: -1 } : step
    case 'operate':
    case 'ask':
      return { ...step, key }
    case 'account':
      return { ...step, key, act: random.pick(style.acts) }
    default:
      return step
  }
}
