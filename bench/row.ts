import type { Stand } from './stand.ts'
import { figureOf, ratioOf } from './statistics.ts'
import { times, withSpread } from './words.ts'

/** A line of the table. A cell is empty if the bare proxy has no such figure. */
export type Row = {
  readonly what: string
  readonly waybill: string
  readonly bareProxy?: string
}

export type Findings = {
  readonly rows: readonly Row[]
  /** Parts of documents that these figures are written into, by their marks. */
  readonly blocks?: Readonly<Record<string, string>>
}

/** Rows that are measured together, under the name for `--only`. */
export type RowGroup = { readonly name: string; measure(stand: Stand): Promise<Findings> }

/** Short ones: a neighbour on the machine disturbs some of them, and the median is not one of those. */
export const ROUNDS = 9

/** Subjects take turns, so that the machine's other work falls on all of them alike. */
export async function inTurns<Name extends string, Found = number>(
  { say }: Stand,
  group: string,
  measures: Readonly<Partial<Record<Name, () => Promise<Found>>>>,
  rounds = ROUNDS,
): Promise<Readonly<Partial<Record<Name, Found[]>>>> {
  const turns = Object.entries(measures) as [Name, () => Promise<Found>][]
  const found: Partial<Record<Name, Found[]>> = {}
  for (let round = 1; round <= rounds; round++) {
    say(`${group}: round ${round} of ${rounds}`)
    for (const [name, measure] of turns) found[name] = [...(found[name] ?? []), await measure()]
  }
  return found
}

type Values = readonly number[] | undefined

/** A row of figures with their ratio to the bare proxy's. */
export function comparedRow(
  what: string,
  unit: string,
  { waybill = [], bareProxy = [] }: { waybill: Values; bareProxy: Values },
): Row {
  return {
    what,
    waybill: `${withSpread(figureOf(waybill), unit)}, **${times(ratioOf(waybill, bareProxy))}**`,
    bareProxy: `${withSpread(figureOf(bareProxy), unit)}, 1×`,
  }
}
