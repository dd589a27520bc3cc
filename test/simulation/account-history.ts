import { type History, keySetup, makeStep, type Step } from './history.ts'
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
const CALM = { call: 14, deliver: 90, wait: 6, sweep: 5, account: 6, operate: 3, ask: 1 }
const CALM_STEPS = urn(CALM)
const STEPS = urn({ ...CALM, land: 3, crash: 3, skew: 1 })
/** Calls that meet each other, and purses that run dry. */
const RACING_STEPS = urn({ call: 16, deliver: 110, wait: 2, sweep: 3, account: 2, land: 1 })
/** Keys that end while they are used. */
const ENDING_STEPS = urn({ call: 12, deliver: 80, wait: 4, sweep: 14, operate: 5, land: 4 })
const OPERATIONS = urn({ suspend: 2, resume: 3, revoke: 2, limits: 1, 'end grace': 1 })
/** A purse that is idle gives its credits back after an hour. */
const WAITS = [1, 20, 500, 1_100, 20_000, 970_000, 3_700_000, 3_700_000]
const SHORT_WAITS = [1, 20, 500]
/** A call with a cap holds about 700,000 nanocredits, or half as much again. */
const CREDITS = [800_000, 1_500_000, 2_300_000, 4_000_000, 4_000_000, 12_000_000]
/** Limits that no history reaches: the money is what they are about. */
const LOOSE = { rpm: 600, maxConcurrent: 200, models: [] }

export function hasAccount(seed: number): boolean {
  return seed % 10 === 1 || seed % 10 === 6
}

/** One customer with 1 to 8 keys, and now and then others that may join. */
export function generateWithAccount(seed: number): History {
  const random = new Random(seed)
  const kinds = random.pick([CALM_STEPS, STEPS, STEPS, RACING_STEPS, RACING_STEPS, ENDING_STEPS])
  const isRace = kinds === RACING_STEPS
  const style = {
    kinds,
    waits: isRace ? SHORT_WAITS : WAITS,
    faults: random.pick([0, 0, 0.03, 0.1]),
    inOrder: random.pick([0, 0, 0.5, 0.95]),
    retries: random.pick([0, 0, 0.3]),
    failing: 0,
    operations: kinds === ENDING_STEPS ? (['revoke'] as const) : OPERATIONS,
  }
  const purses = random.pick([1, 2, 2, 3, 3, 4, 6, 8])
  const credits = BigInt(random.pick(CREDITS))
  const alone = random.pick([0, 0, 1, 2])
  const keys = Array.from({ length: purses + alone }, (_, i) => {
    const { notifyBelow, ...setup } = keySetup(random)
    const limits = random.chance(0.8) ? LOOSE : {}
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
    steps: Array.from({ length: 40 + random.below(120) }, () => stepOf(random, style)),
  }
}

function stepOf(random: Random, style: Parameters<typeof makeStep>[1]): Step {
  const step = makeStep(random, style)
  const key = random.below(10)
  switch (step.do) {
    case 'call': {
      const endpoint = step.endpoint === 'models' && random.chance(0.8) ? 'whole' : step.endpoint
      const cap = random.pick([10, 10, 10, 100, undefined])
      return { ...step, key, endpoint, ...(step.retryOf === undefined && { cap, pin: undefined, secret: 0 }) }
    }
    case 'operate':
    case 'ask':
      return { ...step, key }
    case 'account':
      return { ...step, key, act: random.pick(ACTS) }
    default:
      return step
  }
}
