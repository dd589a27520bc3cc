import {
  COUNTER_NAMES,
  COUNTERS,
  type Counter,
  type CounterName,
} from '../../layers/gateway/domain/admission/counters.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import type { ContractName } from '../../layers/gateway/endpoints.ts'
import type { AccountAct, AccountSetup } from './account-history.ts'
import { Random, urn } from './random.ts'

const FAULT_WEIGHTS = {
  /** It does its work, and the answer is lost. */
  'reply lost': 3,
  /** Its sender gives up; it may arrive later, or never. */
  delayed: 3,
  /** DynamoDB turns it away. */
  throttled: 2,
  /** It meets a transaction on the same item. */
  conflict: 1,
  /** It is answered, and arrives once more later, as if it had been sent again. */
  repeated: 2,
}
/** The fate of a message between a gateway and its database. */
export type Fate = 'answered' | keyof typeof FAULT_WEIGHTS

const SCRIPT_WEIGHTS = {
  answers: 12,
  'counts nothing': 2,
  /** It counts zero for an answer that has text. */
  'counts zero': 1,
  /** It counts what it thought in the total only. */
  thinks: 1,
  /** It counts a prompt within its bound, and above a tier of its price. */
  'reads long': 4,
  /** It read more than the prompt can have, because a plugin or a file was added. */
  'reads more': 1,
  boasts: 1,
  /** It goes on beyond its output cap, and counts nothing. */
  'ignores its cap': 1,
  refuses: 3,
  /** It has nothing for what the caller asks: a caller can make it say so. */
  'supports nothing': 2,
  breaks: 2,
  hangs: 1,
  /** A part of the stream makes the gateway die when the whole answer has come. */
  kills: 1,
}
/** How an upstream behaves in one attempt. */
export type Script = keyof typeof SCRIPT_WEIGHTS

/**
 * The routes: one; several and a more expensive fallback; one with an unsupported field, and that fallback; one with a
 * more expensive one behind it, and that fallback.
 */
const CATALOG_WEIGHTS = { 'one route': 5, 'several routes': 4, narrow: 1, 'dearer route': 3 }
export type CatalogKind = keyof typeof CATALOG_WEIGHTS

/** The requests to the admin API under an Idempotency-Key. */
export const ACTS = ['create', 'rotate', 'grant'] as const
export type ActKind = (typeof ACTS)[number]

/** The operator's other changes, by the store's verbs. */
const OPERATION_WEIGHTS = {
  'end grace': 2,
  suspend: 1,
  resume: 2,
  revoke: 1,
  limits: 3,
  expiry: 2,
  'external id': 1,
  push: 2,
  /** Only in histories with lanes: their number, and limits that are dealt out among them. */
  lanes: 0,
  parts: 0,
}
export type Operation = keyof typeof OPERATION_WEIGHTS

/** Numbers are taken modulo what there is at that moment, so a history from which steps are taken away still means something. */
export type Step =
  | {
      readonly do: 'call'
      readonly node: number
      readonly key: number
      /** 0 is the newest secret of the key, 1 the one before. */
      readonly secret: number
      readonly endpoint: 'whole' | 'stream' | 'models'
      /** In whose words a model is asked. */
      readonly contract: ContractName
      /** The script of the first upstream that is asked, and that of every other. */
      readonly scripts: readonly [Script, Script]
      /** Asks for a field that one dialect does not support. */
      readonly logprobs: boolean
      /** The providers that it wants, and no others. */
      readonly pin: string | undefined
      readonly cap: number | undefined
      /** The Idempotency-Key that it sends, if any. */
      readonly retryOf: number | undefined
    }
  | { readonly do: 'deliver'; readonly pick: number; readonly fate: Fate }
  | { readonly do: 'land'; readonly pick: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** After the last node comes the operator's process. */
  | { readonly do: 'crash'; readonly node: number }
  | { readonly do: 'skew'; readonly node: number; readonly ms: number }
  | { readonly do: 'sweep'; readonly node: number }
  /** Closes the days that are over, and exports them, until it has looked so often whether there is time. */
  | { readonly do: 'close'; readonly node: number; readonly looks: number }
  /** From here on a key is asked so often that every transaction with its item is cancelled. */
  | { readonly do: 'heat'; readonly key: number }
  | { readonly do: 'ask'; readonly key: number; readonly act: ActKind; readonly value: number }
  | { readonly do: 'operate'; readonly key: number; readonly operation: Operation; readonly value: number }
  /** An act on the account; the key is the one that is adopted. */
  | { readonly do: 'account'; readonly act: AccountAct; readonly key: number; readonly value: number }

export type KeyLimits = Pick<KeySettings, 'rpm' | 'maxConcurrent' | 'models' | CounterName>
export type KeySetup = KeyLimits & {
  readonly credits: bigint
  readonly notifyBelow?: bigint | undefined
  readonly lanes?: number
}

export type History = {
  readonly seed: number
  readonly startMs: number
  readonly nodes: number
  readonly catalog: CatalogKind
  readonly keys: readonly KeySetup[]
  readonly account?: AccountSetup
  /** It goes over days, and ends when all of them are closed and exported. */
  readonly closes: boolean
  readonly steps: readonly Step[]
}

const NOON = Date.UTC(2026, 10, 15, 12)
const ALMOST_MIDNIGHT = Date.UTC(2026, 10, 15, 23, 59, 30)
const ALMOST_DECEMBER = Date.UTC(2026, 10, 30, 23, 59, 30)

const CALM = { call: 14, deliver: 62, wait: 8, sweep: 3, ask: 3, operate: 4 }
const CALM_STEPS = urn(CALM)
const WILD = { ...CALM, land: 2, crash: 4, skew: 2 }
const STEPS = urn(WILD)
const CLOSING_STEPS = urn({ ...WILD, wait: 12, close: 8, skew: 8 })
const HAMMERING_STEPS = urn({ call: 12, deliver: 74, wait: 4, sweep: 3, crash: 3, operate: 6 })
const SCRIPTS = urn(SCRIPT_WEIGHTS)
const CATALOGS = urn(CATALOG_WEIGHTS)
const PINS = [
  ...Array(4).fill(undefined),
  ...['first', 'second', 'narrow', 'dearer', 'second,first,second,second', 'first,narrow'],
]
const FAULTS = urn(FAULT_WEIGHTS)
const ASKED = urn({ grant: 4, rotate: 4, create: 3 })
const OPERATIONS = urn(OPERATION_WEIGHTS)
/** Those that must win over any number of requests. */
const URGENT = urn({ 'end grace': 3, suspend: 2, resume: 3, revoke: 1 })
const ENDPOINTS = urn({ whole: 6, stream: 2, models: 2 })
const CONTRACTS = urn({ chat: 4, responses: 2, messages: 2, completions: 1, embeddings: 1 })
const WAITS = [1, 20, 1_000, 5_000, 20_000, 61_000, 300_000, 970_000, 3_700_000]
/** So short that no act's time is over before the history is. */
const SHORT_WAITS = [1, 20, 100]
/** Those in which days end: the longest of them pass the closing of one. */
const LONG_WAITS = [...WAITS, 61_000, 8_000_000, 9_000_000, 40_000_000]
const SKEWS = [0, 2_000, -2_000, -10_000, 30_000, 3_600_000, -3_600_000]

export const PLAIN = { endpoint: 'whole', contract: 'chat', logprobs: false, pin: undefined, cap: 10 } as const
const RETRIED = [
  { ...PLAIN, scripts: ['answers', 'answers'] },
  { ...PLAIN, endpoint: 'stream', contract: 'messages', scripts: ['counts nothing', 'thinks'] },
] as const
/** One caller's one request that its route fails at, again and again at one node. */
const REPEATED = { ...PLAIN, node: 0, key: 0, scripts: ['refuses', 'answers'], retryOf: undefined } as const

/** Calls ask 'simulated' and 'embedding', and 'dear' is the fallback of the first. */
export const MODELS: readonly (readonly string[])[] = [
  ...Array(4).fill([]),
  ...[['simulated'], ['*'], ['sim*', '*dear*'], ['embedding', 'dear']],
]

/** Limits that histories reach, and one that they do not. */
export const COUNTER_LIMITS: Readonly<Record<Counter['counts'], readonly (number | bigint)[]>> = {
  requests: [2, 6, 1_000],
  credits: [0n, 800_000n, 1_600_000n, 50_000_000n],
  loss: [0n, 20_000_000n, 60_000_000n, 1_000_000_000n],
  // A call with a cap takes some 300.
  tokens: [100, 400, 900, 1_000_000],
}

/** The style of a history: the probability of each step. */
type Style = {
  readonly kinds: readonly Step['do'][]
  readonly waits: readonly number[]
  readonly faults: number
  readonly inOrder: number
  readonly retries: number
  /** How often a call is the one that its route fails at. */
  readonly failing: number
  readonly operations: readonly Operation[]
}

export function generate(seed: number): History {
  const random = new Random(seed)
  if (seed % 10 === 7) return hammering(seed, random)
  const closes = random.chance(0.2)
  const style: Style = {
    kinds: closes ? CLOSING_STEPS : random.chance(0.5) ? CALM_STEPS : STEPS,
    waits: closes ? LONG_WAITS : WAITS,
    faults: random.pick([0, 0, 0.03, 0.1, 0.3]),
    inOrder: random.pick([0, 0.5, 0.95]),
    retries: random.pick([0, 0.2, 0.8]),
    failing: random.pick([0, 0, 0, 0.7]),
    operations: OPERATIONS,
  }
  // Most faults need few steps; some need many.
  const length = random.chance(0.1) ? 40 + random.below(80) : 8 + random.below(25)
  return {
    seed,
    closes,
    startMs: random.chance(0.3) ? random.pick([ALMOST_MIDNIGHT, ALMOST_DECEMBER]) : NOON,
    nodes: 1 + random.below(3),
    catalog: random.pick(CATALOGS),
    keys: Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => keySetup(random)),
    steps: [
      ...beginning(random, style),
      ...Array.from({ length }, () => makeStep(random, style)),
      ...(seed % 10 === 3 ? granting(seed) : []),
    ],
  }
}

/** Two grants to one key, which may have one reference. */
function granting(seed: number): Step[] {
  const random = new Random(seed)
  return [1, 2].map(() => ({ do: 'ask', key: 0, act: 'grant', value: random.below(1_000) }))
}

/** A key that is rotated, then hammered by all nodes, and meanwhile suspended, resumed and revoked. */
function hammering(seed: number, random: Random): History {
  const style = { kinds: HAMMERING_STEPS, waits: SHORT_WAITS, faults: 0, retries: 0, failing: 0, operations: URGENT }
  const inAnyOrder: Style = { ...style, inOrder: random.pick([0.3, 0.9]) }
  const rotate: Step = { do: 'ask', key: 0, act: 'rotate', value: random.below(1_000) }
  const rotation = Array.from({ length: 10 }, () => makeDelivery(random, { ...style, inOrder: 1 }))
  const rest = Array.from({ length: 60 + random.below(60) }, () => makeStep(random, inAnyOrder))
  return {
    seed,
    closes: false,
    startMs: NOON,
    nodes: 3,
    catalog: 'one route',
    keys: [{ ...keySetup(random), rpm: 600, maxConcurrent: 200, credits: 50_000_000n }],
    steps: [rotate, ...rotation, { do: 'heat', key: 0 }, ...rest],
  }
}

/** Now and then with a new key, so that it is used in the rest of a short history. */
function beginning(random: Random, style: Style): readonly Step[] {
  if (!random.chance(0.2)) return []
  const make: Step = { do: 'ask', key: 0, act: 'create', value: random.below(1_000) }
  return [make, ...Array.from({ length: 6 }, () => makeDelivery(random, style))]
}

function makeDelivery(random: Random, { inOrder, faults }: Style): Step {
  return {
    do: 'deliver',
    pick: random.chance(inOrder) ? 0 : random.below(1_000),
    fate: random.chance(faults) ? random.pick(FAULTS) : 'answered',
  }
}

export function keySetup(random: Random): KeySetup {
  const setup = {
    rpm: random.pick([1, 2, 5, 60, 600]),
    ...counterLimits(random),
    maxConcurrent: random.pick([1, 2, 4, 200]),
    models: random.pick(MODELS),
    // From nothing to plenty; a call with a cap holds about 700,000 nanocredits.
    credits: BigInt(random.pick([0, 500_000, 800_000, 1_600_000, 4_000_000, 50_000_000])),
  }
  return { ...setup, ...(WATCHED.has(setup.credits) && { notifyBelow: setup.credits - 1n }) }
}

/** The keys that are low with their first charge. The others wait longer for a sweep. */
const WATCHED: ReadonlySet<bigint> = new Set([800_000n, 4_000_000n])

/** At most one counter is tight: with each counter that is added, histories would have fewer calls that are admitted. */
function counterLimits(random: Random): Pick<KeySettings, CounterName> {
  const limitsOf = (name: CounterName) => COUNTER_LIMITS[COUNTERS[name].counts]
  const loose = COUNTER_NAMES.map((name) => [name, limitsOf(name).at(-1)] as const)
  const tight = COUNTER_NAMES.flatMap((name) =>
    limitsOf(name)
      .slice(0, -1)
      .map((limit) => [name, limit] as const),
  )
  return Object.fromEntries([...loose, random.pick([...tight, ...loose.slice(0, 1)])]) as Pick<KeySettings, CounterName>
}

export function makeStep(random: Random, style: Style): Step {
  const kind = random.pick(style.kinds)
  const node = random.below(3)
  const key = random.below(6)
  switch (kind) {
    case 'call': {
      const retryOf = random.chance(style.retries) ? random.below(2) : undefined
      return {
        do: kind,
        node,
        key,
        secret: random.chance(0.85) ? 0 : 1,
        endpoint: random.pick(ENDPOINTS),
        contract: random.pick(CONTRACTS),
        scripts: [random.pick(SCRIPTS), random.pick(SCRIPTS)],
        logprobs: random.chance(0.1),
        pin: random.pick(PINS),
        cap: random.pick([undefined, 10, 100]),
        retryOf,
        // Mostly the same body as before.
        ...(retryOf !== undefined && random.chance(0.9) && RETRIED[retryOf]),
        ...(random.chance(style.failing) && REPEATED),
      }
    }
    case 'deliver':
      return makeDelivery(random, style)
    case 'land':
      return { do: kind, pick: random.below(1_000) }
    case 'wait':
      return { do: kind, ms: random.pick(style.waits) }
    case 'crash':
      return { do: kind, node: random.below(12) }
    case 'sweep':
      return { do: kind, node }
    case 'close':
      return { do: kind, node, looks: random.chance(0.5) ? 3 + random.below(10) : 10_000 }
    case 'skew':
      return { do: kind, node, ms: random.pick(SKEWS) }
    case 'heat':
      return { do: kind, key }
    case 'ask':
      return { do: kind, key, act: random.pick(ASKED), value: random.below(1_000) }
    case 'account':
      return { do: kind, act: 'grant', key, value: random.below(1_000) }
    case 'operate':
      return { do: kind, key, operation: random.pick(style.operations), value: random.below(1_000) }
  }
}
