import { ERROR_KINDS, type Fault, faultOf, REQUEST_CODES } from '../basics/gateway-error.ts'
import type { Nano } from '../money/money.ts'
import { type Charges, chargesOf, NO_CHARGES } from './charges.ts'
import { isRequest, SUMMED_FIELDS, USAGE_FIELDS, type UsageRow } from './usage-row.ts'

/** Rows by themselves, and totals from before charges were kept, have no charges. */
type SummedFields = Charges & { readonly [Name in (typeof SUMMED_FIELDS)[number]]: NonNullable<UsageRow[Name]> }

export type Figures = SummedFields & {
  readonly requests: number
  /** Calls that ask no model. They are in none of the other figures; totals from before they were told apart have them in all. */
  readonly calls: number
  readonly completed: number
  /** The charges for the answers whose cost to us is stated, and therefore in `upstreamCost`. */
  readonly costOfStated: Nano
  readonly withoutCost: number
}

export type UsagePart = Figures & {
  readonly model?: string | undefined
  readonly provider?: string | undefined
  /** The number of requests that ended with an error, by its code; `other` for codes that are not the gateway's own. */
  readonly errors: Readonly<Record<string, number>>
}

const NO_SUMS = Object.fromEntries(
  SUMMED_FIELDS.map((name) => [name, USAGE_FIELDS[name].kind === 'credits' ? 0n : 0]),
) as SummedFields

export const NO_FIGURES: Figures = {
  ...NO_SUMS,
  ...NO_CHARGES,
  requests: 0,
  calls: 0,
  completed: 0,
  costOfStated: 0n,
  withoutCost: 0,
}
const FIGURES = Object.keys(NO_FIGURES) as (keyof Figures)[]

/** The usage of one key on one UTC day, by model and provider. Once the day is closed, it does not change. */
export type DayTotal = {
  readonly keyId: string
  readonly day: string
  /** The account of the key, as rows of the day have it. */
  readonly accountId?: string | undefined
  /** One part for each pair of model and provider that the key used, in the order of their names. */
  readonly parts: readonly UsagePart[]
  /** From this time on rows of the day may be gone; without it, never. */
  readonly rowsUntilMs?: number | undefined
}

/** The error codes that are counted apart. An upstream can make up others, as many as it likes. */
const COUNTED: ReadonlySet<string> = new Set([...ERROR_KINDS, ...REQUEST_CODES])

/** The refusals of a flood, of which only the first have rows with their codes. */
const WITHOUT_ROW = 'refused_without_row'

export function partOf(row: UsageRow): UsagePart {
  const { outcome, upstreamCost, alsoRefused = 0 } = row
  const isStated = upstreamCost !== undefined
  const isCounted = isRequest(row)
  const sums: Record<string, number | Nano> = { ...NO_CHARGES }
  for (const name of SUMMED_FIELDS) sums[name] = row[name] ?? NO_FIGURES[name]
  return {
    ...(sums as SummedFields),
    model: row.model,
    provider: row.provider,
    requests: isCounted ? 1 + alsoRefused : 0,
    calls: isCounted ? 0 : 1 + alsoRefused,
    completed: isCounted && outcome === 'completed' ? 1 : 0,
    errors: isCounted ? errorsOf(row) : {},
    costOfStated: isStated ? row.cost : 0n,
    withoutCost: !isStated && row.usageSource !== 'none' ? 1 : 0,
  }
}

export function errorsOf({ errorCode, alsoRefused = 0 }: UsageRow): UsagePart['errors'] {
  return {
    ...(errorCode !== undefined && { [COUNTED.has(errorCode) ? errorCode : 'other']: 1 }),
    ...(alsoRefused > 0 && { [WITHOUT_ROW]: alsoRefused }),
  }
}

/** The requests that were not answered, by the fault. Those that died with the gateway have no code. */
export function faultsOf({ requests, completed, errors }: UsagePart): Readonly<Record<Fault, number>> {
  const faults = { refused: 0, failed: 0, broken: 0 }
  for (const code in errors) faults[faultOf(code)] += errors[code] as number
  return { ...faults, broken: requests - completed - faults.refused - faults.failed }
}

export function emptyPart({ model, provider }: Pick<UsagePart, 'model' | 'provider'> = {}): UsagePart {
  return { ...NO_FIGURES, model, provider, errors: {} }
}

/** Adds to a part in place, because a closing adds up millions of rows. Most figures of most of them are zero. */
export function addTo(part: UsagePart, more: UsagePart): void {
  const sum = part as unknown as Record<string, number | Nano>
  for (const name of FIGURES) if (more[name]) sum[name] = plus(part[name], more[name])
  const errors = part.errors as Record<string, number>
  for (const code in more.errors) errors[code] = (errors[code] ?? 0) + (more.errors[code] as number)
}

function plus(a: number | Nano, b: number | Nano): number | Nano {
  return typeof a === 'bigint' ? a + (b as Nano) : a + (b as number)
}

export class DayCounter {
  readonly #keyId: string
  readonly #day: string
  readonly #parts = new Map<string, UsagePart>()
  #rowsUntilMs: number | undefined
  #accountId: string | undefined

  constructor(keyId: string, day: string) {
    this.#keyId = keyId
    this.#day = day
  }

  add(row: UsageRow): void {
    this.#accountId ??= row.accountId
    this.#add({ ...partOf(row), ...chargesOf(row) }, row.keptUntilMs)
  }

  addTotal({ accountId, parts, rowsUntilMs }: DayTotal): void {
    this.#accountId ??= accountId
    for (const part of parts) this.#add(part, rowsUntilMs)
  }

  #add(part: UsagePart, untilMs: number | undefined): void {
    const pair = JSON.stringify([part.model, part.provider])
    const sum = this.#parts.get(pair) ?? emptyPart(part)
    this.#parts.set(pair, sum)
    addTo(sum, part)
    if (untilMs !== undefined) this.#rowsUntilMs = Math.min(untilMs, this.#rowsUntilMs ?? Infinity)
  }

  total(): DayTotal {
    const parts = [...this.#parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
    return { keyId: this.#keyId, day: this.#day, accountId: this.#accountId, parts, rowsUntilMs: this.#rowsUntilMs }
  }
}

/** `requests` are all that were made, with the calls that ask no model. */
export type Sums = Pick<Figures, 'requests' | 'cost'>

export function sumsOf({ parts }: Pick<DayTotal, 'parts'>): Sums {
  const sum = emptyPart()
  for (const part of parts) addTo(sum, part)
  return { requests: sum.requests + sum.calls, cost: sum.cost }
}

/** True if both totals of the same key and day agree. Two versions of the code may count errors, calls and charges apart, or not. */
export function isSameTotal(a: DayTotal, b: DayTotal): boolean {
  const callsOf = ({ parts }: DayTotal) => parts.reduce((sum, { calls }) => sum + calls, 0)
  const isApart = callsOf(a) === callsOf(b)
  return textOf(a, isApart) === textOf(b, isApart)
}

function textOf({ keyId, day, parts, rowsUntilMs }: DayTotal, isApart: boolean): string {
  const sorted = parts.map(({ errors, ...part }) => {
    const told = Object.values(errors).reduce((sum, count) => sum + count, 0)
    const counts = isApart ? { told } : { requests: part.requests + part.calls, calls: 0, completed: 0 }
    return Object.entries({ ...part, ...NO_CHARGES, ...counts }).sort(([x], [y]) => (x < y ? -1 : 1))
  })
  const write = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  return JSON.stringify([keyId, day, rowsUntilMs, sorted], write)
}

type Group<Name> = [name: Name, part: UsagePart]

/** Usage added up under the names of groups; null for what has no name. */
export class UsageGroups<Name extends string | null = string> {
  readonly #parts = new Map<Name, UsagePart>()

  static of<Usage extends { readonly part: UsagePart }, Name extends string | null>(
    all: Iterable<Usage>,
    nameOf: (usage: Usage) => Name,
  ): UsageGroups<Name> {
    const groups = new UsageGroups<Name>()
    for (const usage of all) groups.add(nameOf(usage), usage.part)
    return groups
  }

  add(name: Name, part: UsagePart): void {
    const sum = this.#parts.get(name) ?? emptyPart()
    this.#parts.set(name, sum)
    addTo(sum, part)
  }

  get total(): UsagePart {
    const sum = emptyPart()
    for (const part of this.#parts.values()) addTo(sum, part)
    return sum
  }

  /** A group that has nothing but calls that ask no model is left out, unless it is asked for. */
  byName(calls?: string): Group<Name>[] {
    const isUsed = ([, { requests, cost }]: Group<Name>) => calls || requests > 0 || cost > 0n
    return [...this.#parts].filter(isUsed).sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
  }

  /** The name decides between equals, since they are read in no order. */
  dearestFirst(calls?: string): Group<Name>[] {
    return this.byName(calls).sort(([, a], [, b]) => (a.cost > b.cost ? -1 : Number(a.cost < b.cost)))
  }
}
