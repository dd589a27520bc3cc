import { DAY_MS, isoTime } from '../../layers/gateway/domain/time.ts'
import { scaledNumber } from '../reading/exact-number.ts'
import { CliError } from '../terminal/cli-error.ts'

/** A line of a provider's bill, of one UTC day. */
export type BillLine = {
  readonly day: string
  /** As the bill names it: a model, or something else that was billed; undefined if the bill does not say. */
  readonly model: string | undefined
  /** In attocredits (18 decimals), so that lines with a float's digits add up; a credit is a US dollar. Credits of the provider are negative. */
  readonly atto: bigint
}

export type BillForm = 'OpenAI' | 'Anthropic' | 'OpenRouter' | 'AWS'

export type Bill = {
  readonly form: BillForm
  readonly lines: readonly BillLine[]
  /** Of a form that has every day, also one without a cost: the days that it has. */
  readonly days?: readonly string[]
  /** Lines that are no usage of models, for the person who wonders where they are. */
  readonly leftOut: number
}

/** An amount of a bill in attocredits. `places` are 18 for dollars, and 16 for cents. */
export function amountOf(text: string | undefined, places: number, where: string): bigint {
  const atto = scaledNumber(text?.trim(), places)
  if (atto !== undefined) return atto
  throw new CliError(`${where} has the amount '${(text ?? '').slice(0, 40)}', which is no number.`)
}

/** A credit is a dollar, so no other currency can be compared. */
export function requireDollars(currency: string | undefined, where: string): void {
  if (currency?.trim().toUpperCase() === 'USD') return
  throw new CliError(
    `${where} is in the currency '${(currency ?? '').slice(0, 40)}'. Only bills in USD can be compared.`,
  )
}

/** The UTC day of a period. A day of another zone is two halves of days here. */
export function dayOf(fromMs: number, toMs: number | undefined, where: string): string {
  const day = isoTime(fromMs).slice(0, 10)
  if (toMs === undefined || (toMs > fromMs && isoTime(toMs - 1).startsWith(day))) return day
  const period = `${isoTime(fromMs)} to ${isoTime(toMs)}`
  throw new CliError(`${where} is for ${period}, which is not within a UTC day. Ask for the bill by days in UTC.`)
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|UTC| UTC|[+-]\d{2}:?\d{2})?)?$/

/** A text of a bill as a moment. Without a zone it is UTC, as in the bills of OpenRouter and AWS. */
export function momentOf(text: string | undefined, where: string): number {
  const [, day, time = '00:00', zone = 'Z'] = MOMENT.exec(text?.trim() ?? '') ?? []
  const offset = /^[+-]/.test(zone) ? zone.replace(/(\d{2}):?(\d{2})$/, '$1:$2') : 'Z'
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time.slice(0, 12)}${offset}`)
  // JavaScript reads 30 February as 2 March.
  const isReal = ms >= 0 && new Date(Date.parse(`${day}T00:00:00Z`)).toISOString().startsWith(day ?? '')
  if (isReal) return ms
  throw new CliError(`${where} has the time '${(text ?? '').slice(0, 40)}', which is none.`)
}

/** Refuses what was there before: a file that is given twice, or two whose days overlap, would be added up twice. */
export function onceOnly(): (name: string, where: string) => void {
  const seen = new Set<string>()
  return (name, where) => {
    if (seen.has(name)) {
      throw new CliError(`${where} is in the bill twice (${name.slice(0, 80)}). Files must not overlap.`)
    }
    seen.add(name)
  }
}

export function daysBetween(fromMs: number, toMs: number): string[] {
  return Array.from({ length: Math.ceil((toMs - fromMs) / DAY_MS) }, (_, i) =>
    isoTime(fromMs + i * DAY_MS).slice(0, 10),
  )
}
