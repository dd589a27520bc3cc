import { ERROR_KINDS } from '../basics/gateway-error.ts'
import type { Nano } from '../money/money.ts'
import { type Charges, chargesOf, NO_CHARGES } from './charges.ts'
import { SUMMED_FIELDS, USAGE_FIELDS, type UsageRow } from './usage-row.ts'

/** Rows by themselves, and totals from before charges were kept, have no charges. */
type SummedFields = Charges & { readonly [Name in (typeof SUMMED_FIELDS)[number]]: NonNullable<UsageRow[Name]> }

export type Figures = SummedFields & {
  readonly requests: number
  readonly completed: number
  readonly refused: number
  readonly upstreamErrors: number
  readonly abandoned: number
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
  completed: 0,
  refused: 0,
  upstreamErrors: 0,
  abandoned: 0,
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
const COUNTED: ReadonlySet<string> = new Set([...ERROR_KINDS, 'context_length_exceeded'])

/** The refusals of a flood, of which only the first have rows with their codes. */
const WITHOUT_ROW = 'refused_without_row'

export function partOf(row: UsageRow): UsagePart {
  const { outcome, errorCode, upstreamCost, alsoRefused = 0 } = row
  const isStated = upstreamCost !== undefined
  const sums: Record<string, number | Nano> = { ...NO_CHARGES }
  for (const name of SUMMED_FIELDS) sums[name] = row[name] ?? NO_FIGURES[name]
  return {
    ...(sums as SummedFields),
    model: row.model,
    provider: row.provider,
    requests: 1 + alsoRefused,
    completed: outcome === 'completed' ? 1 : 0,
    refused: (outcome === 'refused' ? 1 : 0) + alsoRefused,
    upstreamErrors: outcome === 'upstream_error' ? 1 : 0,
    abandoned: outcome === 'abandoned' ? 1 : 0,
    errors: {
      ...(errorCode !== undefined && { [COUNTED.has(errorCode) ? errorCode : 'other']: 1 }),
      ...(alsoRefused > 0 && { [WITHOUT_ROW]: alsoRefused }),
    },
    costOfStated: isStated ? row.cost : 0n,
    withoutCost: !isStated && row.usageSource !== 'none' ? 1 : 0,
  }
}

export function emptyPart({ model, provider }: Pick<UsagePart, 'model' | 'provider'> = {}): UsagePart {
  return { ...NO_FIGURES, model, provider, errors: {} }
}

/** Adds to a part in place, because a closing adds up millions of rows. */
export function addTo(part: UsagePart, more: UsagePart): void {
  const sum = part as unknown as Record<string, number | Nano>
  for (const name of FIGURES) sum[name] = plus(part[name], more[name])
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

export type Sums = Pick<Figures, 'requests' | 'cost'>

export function sumsOf({ parts }: Pick<DayTotal, 'parts'>): Sums {
  return parts.reduce<Sums>(
    (sums, { requests, cost }) => ({ requests: sums.requests + requests, cost: sums.cost + cost }),
    { requests: 0, cost: 0n },
  )
}

/** True if both totals of the same key and day agree. Two versions of the code may count different error codes apart, and charges. */
export function isSameTotal(a: DayTotal, b: DayTotal): boolean {
  return textOf(a) === textOf(b)
}

function textOf({ keyId, day, parts, rowsUntilMs }: DayTotal): string {
  const sorted = parts.map(({ errors, ...part }) => [
    ...Object.entries({ ...part, ...NO_CHARGES }).sort(([x], [y]) => (x < y ? -1 : 1)),
    Object.values(errors).reduce((sum, count) => sum + count, 0),
  ])
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

  byName(): Group<Name>[] {
    return [...this.#parts].sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
  }

  /** The name decides between equals, since they are read in no order. */
  dearestFirst(): Group<Name>[] {
    return this.byName().sort(([, a], [, b]) => (a.cost > b.cost ? -1 : Number(a.cost < b.cost)))
  }
}
