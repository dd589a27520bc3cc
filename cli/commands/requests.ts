import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { DAY_MS, isoTime, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { OUTCOMES } from '../../layers/gateway/domain/rows/usage-row.ts'
import { printJson, printJsonLine, printTable, shortened, summed } from '../../layers/terminal/output.ts'
import type { Screen, Style } from '../../layers/terminal/terminal.ts'
import { mustBe, option, usually } from './arguments.ts'
import type { Session } from './open-session.ts'
import { moments, type RangeOptions, rangeOf, rangeQuery, shortTime, tellRange } from './time-range.ts'

export type UsageFilter = { readonly [Name in 'key' | 'account' | 'model' | 'user' | 'tag']?: string } & {
  readonly status?: Status
}
/** Exports and sums have all calls; lists have those for models, unless all are asked for. */
type ListOptions = UsageFilter & { readonly limit: number; readonly calls?: 'all' }

const FORMS = `a status such as 429 or 5xx, or ${OUTCOMES.join(', ')}`

export const FILTER_OPTIONS = [
  option('--key <key>', 'of this key only: its id, name, external id or last four'),
  option('--account <account>', 'of the keys of this account only: its id, name or external id').conflicts('key'),
  option('--model <model>', 'for this model only'),
  option('--user <user>', 'of this user only, as callers named it'),
  option('--tag <name=value>', 'with this tag only; a name alone is a tag of any value'),
  option('--status <status>', `only these: ${FORMS}`, mustBe(FORMS, statusIn)),
]

/** The admin API has requests by their outcome, or by their HTTP status. */
type Status = { readonly outcome?: string; readonly status?: string }

function statusIn(text: string): Status | undefined {
  if (OUTCOMES.some((outcome) => outcome === text)) return { outcome: text }
  return /^[1-5](\d\d|xx)$/.test(text) ? { status: text } : undefined
}

export function filterQuery({ key, account, model, user, tag, status }: UsageFilter) {
  return { key_id: key, account, model, user, tag, ...status }
}

export const LIST_OPTIONS = [
  ...FILTER_OPTIONS,
  option(
    '--calls <which>',
    usually('all: also those that ask no model, such as polls of the balance', 'the others'),
  ).choices(['all']),
]

export async function listAction(session: Session, options: RangeOptions & ListOptions): Promise<void> {
  const { admin, out, json, nowMs } = session
  const range = rangeOf(options, nowMs)
  const query = { ...filterQuery(options), ...rangeQuery(range), calls: options.calls }
  const requests = await admin.list<RequestLine>('/requests', query, options.limit)
  if (json) return printJson(out, requests)
  tellRange(out, range)
  printTable(out, requests.data, {
    started: {
      ...moments(
        ({ started_at }) => started_at,
        (line) => startText(line, nowMs),
      ),
      isWhole: true,
    },
    request: { of: (line) => line.request_id, isWhole: true },
    key: { of: (line) => line.key_id, short: (line) => line.key_name ?? line.key_id },
    model: (line) => line.model,
    provider: { of: (line) => line.provider, isSpare: true },
    status: { of: (line) => line.http_status, style: statusStyle },
    outcome: { of: outcomeText, short: (line) => line.error_code ?? outcomeText(line), isSpare: true },
    tokens: { of: (line) => line.total_tokens, isSummed: true, isSpare: true },
    credits: summed((line) => line.cost),
  })
}

/** The time of a request of the last 24 hours, and the day of an older one. */
function startText({ started_at }: RequestLine, nowMs: number): string {
  const text = shortTime(started_at)
  return nowMs - Date.parse(started_at) < DAY_MS ? text.slice(11) : text.slice(5, 16)
}

function statusStyle({ http_status }: RequestLine): Style {
  if (http_status < 400) return 'good'
  return http_status < 500 ? 'warn' : 'bad'
}

function outcomeText(line: RequestLine): string {
  const more = moreText(line)
  return more ? `${line.outcome} (${more})` : line.outcome
}

function moreText({ error_code, replay_of }: RequestLine): string | null {
  return error_code ?? (replay_of && 'replayed')
}

export async function tailAction(session: Session, options: ListOptions): Promise<void> {
  const { admin, out, json, terminal, progress } = session
  const ending = new AbortController()
  const end = () => ending.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  // A reader that has left ends it, too.
  terminal.output.once('error', end)
  progress.stop()
  let seen = new Set<string>()
  for (let isFirst = true; !ending.signal.aborted; isFirst = false) {
    // A request has its row when it has ended, and stands in the list by its start: none takes longer than its hold.
    const query = { ...filterQuery(options), from: isoTime(Date.now() - 16 * MINUTE_MS), calls: options.calls }
    const { data } = await admin.list<RequestLine>('/requests', query, 500)
    const unseen = data.filter(({ request_id }) => !seen.has(request_id))
    for (const line of (isFirst ? unseen.slice(0, options.limit) : unseen).toReversed()) {
      if (json) printJsonLine(out, line)
      else out.painted(lineText(line, out))
    }
    seen = new Set(data.map(({ request_id }) => request_id))
    await sleep(2_000, undefined, { signal: ending.signal }).catch(() => {})
  }
}

/** Columns fit most lines: those to come are not known. */
function lineText(line: RequestLine, { paint, width, isTerminal }: Screen): string {
  const isWhole = width === undefined || !isTerminal
  const cells = [
    isWhole ? line.started_at : shortTime(line.started_at).slice(11),
    paint[statusStyle(line)](String(line.http_status)),
    column(line.model ?? line.endpoint, 22, isWhole),
    column(line.key_name ?? line.key_id, 18, isWhole),
    `${line.duration_ms} ms`.padStart(9),
    line.cost.padStart(12),
    line.request_id,
  ]
  const more = moreText(line)
  return [...cells, ...(more ? [plainLine(more)] : [])].join('  ')
}

function column(text: string, least: number, isWhole: boolean): string {
  const plain = plainLine(text)
  return (isWhole ? plain : shortened(plain, least)).padEnd(least)
}
