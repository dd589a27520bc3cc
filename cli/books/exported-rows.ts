import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shownGroups, usageNumbers } from '../../layers/admin/usage/usage-numbers.ts'
import { isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import { USAGE_FIELD_NAMES, USAGE_FIELDS, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { type AskBooks, jsonLines } from './ask-books.ts'

export type ExportFormat = 'csv' | 'jsonl'

type Wanted = { readonly fromMs: number; readonly toMs: number } & {
  readonly [Name in 'key_id' | 'account' | 'model' | 'outcome' | 'status' | 'user' | 'tag']?: string | undefined
}

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/x-ndjson' }
/** A range that is refused as too much for one answer is asked for in halves, as long as that may help. */
const SPLIT_ABOVE_MS: Readonly<Record<string, number>> = { answer_too_large: 1, took_too_long: 60_000 }

/** The rows of a range in pieces of text, oldest first within a key. */
export async function* exportedText(
  admin: AskBooks['admin'],
  wanted: Wanted,
  format: ExportFormat,
): AsyncGenerator<string> {
  const { fromMs, toMs, ...filter } = wanted
  const query = { from: isoTime(fromMs), to: isoTime(toMs), ...filter }
  const pieces = await admin.text('/requests', query, TYPES[format]).catch((error) => {
    const leastMs = SPLIT_ABOVE_MS[error.code ?? '']
    if (leastMs === undefined || toMs - fromMs <= leastMs) throw error
  })
  if (pieces) return yield* pieces
  const middleMs = fromMs + Math.floor((toMs - fromMs) / 2)
  yield* exportedText(admin, { ...wanted, toMs: middleMs }, format)
  const rest = exportedText(admin, { ...wanted, fromMs: middleMs }, format)
  yield* format === 'csv' ? withoutHeader(rest) : rest
}

const TOLD_ROWS = 100

/** The rows themselves, one by one. Their number is shown with the name of the command, while they come. */
export async function* exportedRows(session: AskBooks, command: string, wanted: Wanted): AsyncGenerator<UsageRow> {
  const { admin, progress } = session
  let count = 0
  for await (const line of jsonLines<Exported>(exportedText(admin, wanted, 'jsonl'))) {
    if (++count % TOLD_ROWS === 0) progress.say(`${command}: ${count} rows`)
    yield rowOf(line)
  }
}

const READ: Readonly<Record<string, (value: unknown) => unknown>> = {
  credits: (value) => parseCredits(String(value)),
  moment: (value) => Date.parse(String(value)),
  // It is exported in another form than the row has.
  price: () => undefined,
}

type Exported = Readonly<Record<string, unknown>>

function rowOf(exported: Exported): UsageRow {
  const fields = USAGE_FIELD_NAMES.map((name) => {
    const { api, kind } = USAGE_FIELDS[name]
    const value = exported[api] ?? undefined
    const read = READ[kind]
    return [name, read && value !== undefined ? read(value) : value]
  })
  return Object.fromEntries(fields) as UsageRow
}

/** The first half has the header. */
async function* withoutHeader(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = ''
  for await (const piece of pieces) {
    if (begun.includes('\r\n')) yield piece
    else {
      begun += piece
      yield begun.split(/\r\n(.*)/s)[1] ?? ''
    }
  }
}

/** Callers may name any number of users; the rows of those beyond this many are added up together. */
const MOST_GROUPS = 10_000
const OTHERS = '(others)'
const TAG = 'tag:'

/** Sums by user or tag are in no total of an hour or a day: there may be as many as there are requests. */
export type SummaryGroup = UsageGroup | 'user' | `${typeof TAG}${string}`

const NAMES: Readonly<Record<UsageGroup | 'user', (row: UsageRow) => string | undefined>> = {
  model: ({ model }) => model,
  key: ({ keyId }) => keyId,
  account: ({ keyId }) => keyId,
  provider: ({ provider }) => provider,
  day: ({ startedAtMs }) => utcDay(startedAtMs),
  user: ({ user }) => user,
}
export const NAMED_GROUPS = Object.keys(NAMES) as (keyof typeof NAMES)[]

/** A summary by a filter or a group that the admin API does not add up by: rows are streamed and added up here. */
export async function summedRows(
  session: AskBooks,
  wanted: Wanted,
  by: SummaryGroup,
  bucketMs = Infinity,
): Promise<UsagePage> {
  const groups = new UsageGroups()
  const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs
  const buckets = new Map<number, UsageGroups>()
  for (let ms = startOf(wanted.fromMs); ms < wanted.toMs; ms += bucketMs) buckets.set(ms, new UsageGroups())
  const named = new Set<string>()
  const group = NAMED_GROUPS.find((one) => one === by)
  const keys = by === 'key' || by === 'account' ? (await session.admin.list<KeyShape>('/keys')).data : []
  const accountOf = new Map(by === 'account' ? keys.map(({ id, account_id }) => [id, account_id ?? id]) : [])
  for await (const row of exportedRows(session, 'usage summary', wanted)) {
    const tags = () => new Map(Object.entries(row.tags ?? {}))
    const own = (group ? NAMES[group](row) : tags().get(by.slice(TAG.length))) || '-'
    const name = accountOf.get(own) ?? own
    if (named.size < MOST_GROUPS) named.add(name)
    for (const sums of [groups, buckets.get(startOf(row.startedAtMs))])
      sums?.add(named.has(name) ? name : OTHERS, partOf(row))
  }
  const { total } = groups
  const labels = keys.map(
    (key) => [accountOf.get(key.id) ?? key.id, (by === 'account' && key.account_name) || key.name] as const,
  )
  return {
    object: 'page',
    // The admin API has no sums by user or tag.
    group_by: by as UsageGroup,
    data: [...buckets].map(([startMs, sums]) => ({
      object: 'bucket',
      start_time: isoTime(Math.max(startMs, wanted.fromMs)),
      end_time: isoTime(Math.min(startMs + bucketMs, wanted.toMs)),
      closed: startMs + bucketMs <= session.nowMs,
      results: sums.byName().map(([group, part]) => ({ group, ...usageNumbers(part, total.cost) })),
    })),
    total: usageNumbers(total, total.cost),
    groups: shownGroups(groups, by, new Map(labels)),
  }
}
