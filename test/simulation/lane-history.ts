import { type AccountAct, stepOf } from './account-history.ts'
import { type History, type KeySetup, type Operation, PLAIN, type Step } from './history.ts'
import { Random, urn } from './random.ts'

const NOON = Date.UTC(2026, 10, 15, 12)
const ALMOST_DECEMBER = Date.UTC(2026, 10, 30, 23, 59, 30)
const WAITS = [1, 20, 500, 1_100, 7_000, 20_000, 61_000, 970_000, 3_700_000]
const SHORT_WAITS = [1, 20, 500, 7_000]
const CALM = { call: 16, deliver: 110, wait: 5, sweep: 3, operate: 5, ask: 1, account: 1 }
const OPERATIONS = urn({ lanes: 6, parts: 4, 'end grace': 1, suspend: 1, resume: 3, revoke: 1 })
const ACTS = urn({ grant: 3, correct: 2, suspend: 1, resume: 3, 'new key': 1, adopt: 1 })

/** Limits that a history of a key with lanes reaches. A call with a cap holds about 700,000 nanocredits. */
export const PART_LIMITS = {
  rpm: [3, 6, 10, 600],
  maxConcurrent: [1, 2, 5, 200],
  dailyLimit: [4, 9, 1_000],
  dailyCredits: [1_600_000n, 3_000_000n, 50_000_000n],
  monthlyCredits: [1_600_000n, 4_000_000n, 50_000_000n],
  tpm: [700, 1_300, 1_000_000],
} as const
type Limit = keyof typeof PART_LIMITS

/** The subject of a history with lanes. */
type Theme = {
  readonly kinds: readonly Step['do'][]
  readonly operations?: readonly Operation[]
  readonly acts?: readonly AccountAct[]
  readonly waits?: readonly number[]
  /** Calls are alike and come several at once, and no message is lost. */
  readonly isPlain?: boolean
  readonly tight?: readonly Limit[]
  /** Every key has a limit that few calls reach, and few lanes. */
  readonly isTight?: boolean
  readonly length?: number
  /** How often the newest message comes first. */
  readonly newest?: number
}

const CROWD = { isPlain: true, isTight: true, waits: SHORT_WAITS, length: 120, newest: 0 }

const THEMES: readonly Theme[] = [
  { kinds: urn(CALM) },
  { kinds: urn({ ...CALM, land: 3, crash: 4 }) },
  { kinds: urn({ ...CALM, land: 2, crash: 2, skew: 1 }) },
  // Crowds that reach the limits of all lanes.
  { kinds: urn({ call: 12, deliver: 60, wait: 1 }), ...CROWD },
  { kinds: urn({ call: 8, deliver: 90, wait: 1, operate: 1 }), operations: ['parts'], ...CROWD },
  // Crowds while lanes come and go.
  { kinds: urn({ call: 8, deliver: 80, wait: 1, operate: 2 }), operations: ['lanes'], ...CROWD },
  {
    kinds: urn({ call: 6, deliver: 80, operate: 2, crash: 2, sweep: 1 }),
    operations: urn({ lanes: 2, parts: 1 }),
    ...CROWD,
  },
  // More and fewer lanes while the limits are used up.
  {
    kinds: urn({ call: 14, deliver: 110, wait: 2, operate: 8, land: 2, crash: 3 }),
    operations: urn({ lanes: 3, parts: 1 }),
    waits: SHORT_WAITS,
  },
  // Deals that are cut off, and gone on with by others.
  {
    kinds: urn({ call: 10, deliver: 60, wait: 2, operate: 6, crash: 6, sweep: 6 }),
    operations: urn({ lanes: 2, parts: 1, suspend: 1, resume: 1 }),
    waits: SHORT_WAITS,
  },
  // Acts that end what may be used, and uses of it.
  {
    kinds: urn({ call: 16, deliver: 90, wait: 2, operate: 8, ask: 4, account: 2 }),
    operations: urn({ suspend: 3, resume: 4, revoke: 1, 'end grace': 3, lanes: 2 }),
    acts: urn({ suspend: 3, resume: 4, close: 1 }),
    waits: SHORT_WAITS,
  },
]

/** Requests that end while several go on with a deal. */
const COMPLETERS: Theme = {
  kinds: urn({ call: 10, deliver: 60, wait: 5 }),
  ...CROWD,
  waits: [20],
  tight: ['maxConcurrent', 'dailyCredits'],
}

/** `--seed 2 --every 10` has all of these, and no others. */
export function hasLanes(seed: number): boolean {
  return seed % 10 === 2
}

/** One or two keys of 2 to 8 lanes, alone or of one account. */
export function generateWithLanes(seed: number): History {
  const random = new Random(seed)
  const theme = seed % 60 === 12 ? COMPLETERS : random.pick(THEMES)
  const {
    kinds,
    operations = OPERATIONS,
    acts = ACTS,
    waits = WAITS,
    isPlain = false,
    isTight = false,
    length = 160,
  } = theme
  const style = {
    kinds,
    operations,
    acts,
    waits,
    isPlain,
    newest: theme.newest ?? random.pick([0, 0, 0.7]),
    faults: isPlain ? 0 : random.pick([0, 0, 0.03, 0.1]),
    inOrder: isPlain ? random.pick([0, 0.5]) : random.pick([0, 0, 0.5, 0.95]),
    retries: 0,
    failing: 0,
  }
  const purses = random.pick([0, 0, 1, 2])
  const alone = purses === 0 ? 1 : random.pick([0, 0, 1])
  const tight = random.pick(theme.tight ?? (Object.keys(PART_LIMITS) as Limit[]))
  const credits = BigInt(
    random.pick(isTight ? [12_000_000, 50_000_000] : [1_500_000, 4_000_000, 12_000_000, 50_000_000]),
  )
  return {
    seed,
    closes: false,
    startMs: random.chance(0.2) ? ALMOST_DECEMBER : NOON,
    nodes: 1 + random.below(3),
    catalog: 'one route',
    keys: Array.from({ length: purses + alone }, (_, i) =>
      lanedKey(random, { tight, isTight, credits: i < purses ? 0n : credits }),
    ),
    ...(purses > 0 && { account: { credits, purses } }),
    steps: Array.from({ length: 60 + random.below(length) }, () => {
      const step = laneStep(random, style)
      // They may meet at one moment.
      return isPlain && step.do === 'call' ? [0, 1, 2].map((i) => ({ ...step, node: step.node + i })) : [step]
    }).flat(),
  }
}

type Wish = { readonly tight: Limit; readonly isTight: boolean; readonly credits: bigint }

function lanedKey(random: Random, { tight, isTight, credits }: Wish): KeySetup {
  const loose = Object.fromEntries(Object.entries(PART_LIMITS).map(([name, values]) => [name, values.at(-1)]))
  const second = random.chance(0.3) ? random.pick(Object.keys(PART_LIMITS) as Limit[]) : tight
  const valuesOf = (name: Limit) => PART_LIMITS[name].slice(0, isTight ? -1 : undefined)
  const limits = Object.fromEntries([tight, second].map((name) => [name, random.pick<unknown>(valuesOf(name))]))
  return {
    ...(loose as Omit<KeySetup, 'models' | 'credits'>),
    ...limits,
    dailyLoss: 1_000_000_000n,
    models: [],
    credits,
    lanes: random.pick(isTight ? [2, 2, 3, 4] : [2, 2, 3, 3, 4, 5, 6, 8]),
  }
}

function laneStep(random: Random, style: Parameters<typeof stepOf>[1]): Step {
  const step = stepOf(random, style)
  const key = random.below(4)
  switch (step.do) {
    case 'call': {
      // Most say in one format why they are refused.
      const plain = random.chance(0.7) ? { ...PLAIN, cap: random.pick([10, 10, 10, 100]) } : {}
      return { ...step, ...plain, key, secret: random.chance(0.9) ? 0 : 1 }
    }
    case 'operate':
    case 'ask':
    case 'account':
      return { ...step, key }
    default:
      return step
  }
}
