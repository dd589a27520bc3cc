import { InvalidArgumentError, type Option } from 'commander'
import { moment } from '../../layers/admin/settings/rules.ts'
import { readPeriod } from '../../layers/admin/settings/setting-texts.ts'
import { DAY_MS, isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { CliError } from '../../layers/terminal/output.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import { mustBe, option, period, required, usually } from './arguments.ts'

/** A range of time: the first moment is in it, the last is not. */
export type Range = { readonly fromMs: number; readonly toMs: number | undefined }

/** A moment, or a word that also has an end. */
type Point = { readonly fromMs: number; readonly toMs?: number }

const WORDS: Readonly<Record<string, (nowMs: number) => Point>> = {
  today: (nowMs) => ({ fromMs: dayMs(nowMs, 0) }),
  yesterday: (nowMs) => ({ fromMs: dayMs(nowMs, -1), toMs: dayMs(nowMs, 0) }),
  'this-month': (nowMs) => ({ fromMs: monthMs(nowMs, 0) }),
  'last-month': (nowMs) => ({ fromMs: monthMs(nowMs, -1), toMs: monthMs(nowMs, 0) }),
}

const MONTHS = 'last-month, this-month or a month such as 2026-10, in UTC'
export const monthOption = required(
  '--month <month>',
  MONTHS,
  mustBe(MONTHS, (text) => monthIn(text, 0) && text),
)

/** The month itself, such as 2026-10. */
export function monthIn(text: string, nowMs: number): string | undefined {
  const word = text.endsWith('-month') ? WORDS[text] : undefined
  if (word) return isoTime(word(nowMs).fromMs).slice(0, 7)
  return /^20\d\d-(0[1-9]|1[0-2])$/.exec(text)?.[0]
}

const NAMED = `${Object.keys(WORDS).join(', ')}, a period before`
const FORMS = `${NAMED} now such as 7d, a day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z`

export type RangeOptions = { readonly from?: string; readonly to?: string; readonly since?: number }

const toWords = (end: string) =>
  usually('up to its first moment, which is not included', `the end of the word in --from, or ${end}`)

/** A command that need not be told its beginning has `--since`, too. */
export function rangeOptions(isMandatory: boolean): Option[] {
  return [
    option('--from <when>', `from this moment on, in UTC: ${FORMS}`, checkedPoint).makeOptionMandatory(isMandatory),
    option('--to <when>', toWords('now'), checkedPoint),
    ...(isMandatory ? [] : [option('--since <period>', usually('how far back, in place of --from', '24h'), period)]),
  ]
}

/** The options of a command that takes whole days only. */
export const DAY_OPTIONS = [
  required(
    '--from <when>',
    `from this UTC day on: ${NAMED} today such as 7d, or a day such as 2026-11-01`,
    checkedPoint,
  ),
  option('--to <when>', toWords('today'), checkedPoint),
]

/** Up to the last midnight, unless an end is given. */
export function daysOf(options: RangeOptions, nowMs: number) {
  const todayMs = dayMs(nowMs, 0)
  const { fromMs, toMs = todayMs } = rangeOf(options, todayMs)
  if (fromMs >= toMs) throw new CliError(`There is no whole day from ${isoTime(fromMs)} to ${isoTime(toMs)}.`)
  return { fromMs, toMs }
}

export const RANGE_WORDS = Object.keys(WORDS)

/** Unless a beginning is given, a day before now. */
export function rangeOf({ from, to, since }: RangeOptions, nowMs: number): Range {
  if (from !== undefined && since !== undefined) throw new CliError('Choose one of --from and --since.')
  const begin = from === undefined ? { fromMs: Math.max(nowMs - (since ?? DAY_MS), 0) } : pointAt(from, nowMs)
  return { fromMs: begin.fromMs, toMs: to === undefined ? begin.toMs : pointAt(to, nowMs).fromMs }
}

export function rangeQuery({ fromMs, toMs }: Range): { from: string; to: string | undefined } {
  return { from: isoTime(fromMs), to: toMs === undefined ? undefined : isoTime(toMs) }
}

/** On a terminal: people may have asked for "yesterday" at 1 o'clock local time. */
export function tellRange({ isTerminal, painted, paint }: Screen, range: Range): void {
  const { from, to } = rangeQuery(range)
  if (isTerminal) painted(paint.dim(`from ${shortTime(from)} to ${to === undefined ? 'now' : shortTime(to)}, UTC`))
}

/** A column of moments of the admin API: files have them whole. */
export function moments<Row>(of: (row: Row) => string, short = (row: Row) => shortTime(of(row))) {
  return { of, short, isForPeople: true as const }
}

/** A moment of the admin API as a terminal shows it, still in UTC. */
export function shortTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}

/** The text unchanged: a word is resolved when the command runs. */
function checkedPoint(text: string): string {
  pointAt(text, 0)
  return text
}

function pointAt(text: string, nowMs: number): Point {
  const word = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined
  if (word) return word(nowMs)
  const periodMs = readPeriod(text)
  if (periodMs !== undefined) return { fromMs: Math.max(nowMs - periodMs, 0) }
  const { data: fromMs } = moment.safeParse(text)
  if (fromMs !== undefined) return { fromMs }
  throw new InvalidArgumentError(`It must be one of ${FORMS}.`)
}

function dayMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / DAY_MS) + days) * DAY_MS
}

function monthMs(nowMs: number, months: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)
}
