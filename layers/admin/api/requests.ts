import type { z } from 'zod'
import { DAY_MS } from '../../gateway/domain/basics/time.ts'
import { isRequestId } from '../../gateway/domain/basics/ulid.ts'
import type { Hold, Key } from '../../gateway/domain/keys/key.ts'
import { formatDecimal } from '../../gateway/domain/money/money.ts'
import { type BillLine, billLines, formatPerMillion, isStated, parsePrice } from '../../gateway/domain/money/price.ts'
import { earliestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import type { UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { newestRequests } from '../../gateway/store/rows/newest-requests.ts'
import { readUsageRow } from '../../gateway/store/rows/usage-rows.ts'
import { newestKeys, readKeys } from '../../gateway/store/sdk/newest-keys.ts'
import type { OperatorTables } from '../../gateway/store/sdk/operator-tables.ts'
import { recordOf, usageRecord } from '../../gateway/wire/rows/usage-record.ts'
import { attemptWords } from '../explain/attempt-words.ts'
import { explainOpenHold, explainRequest } from '../explain/explain-request.ts'
import { hasSoundTokens, quantitiesOf } from '../usage/expected-cost.ts'
import { requestFilter } from '../usage/request-filter.ts'
import { csvLines } from '../usage/usage-csv.ts'
import { ndjsonLines, operatorPart } from '../usage/usage-lines.ts'
import { latestRowMs, usageRows } from '../usage/usage-rows.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call } from './call.ts'
import { keyNamed } from './changed-key.ts'
import { holdShape } from './key-shape.ts'
import { cursorOf, readCursor, requireOrder } from './pages.ts'
import type { List } from './shapes/answers.ts'
import { LINE_FIELDS } from './shapes/names.ts'
import type { requestsQuery } from './shapes/queries.ts'
import type { BillLineShape, RequestLine, RequestShape } from './shapes/requests.ts'

/** Without a range: all requests of one key, or those of all keys in the last 24 hours. */
export async function listRequests(call: Call, sent: z.output<typeof requestsQuery>): Promise<Answer> {
  const { tables, nowMs } = call
  const { limit } = sent
  const key = await keyNamed(call, sent.key_id)
  const fromMs = sent.from ?? (key ? earliestRowMs(key) : nowMs - DAY_MS)
  const toMs = Math.min(sent.to ?? Infinity, latestRowMs(nowMs))
  requireOrder(fromMs, toMs)
  const range = { fromMs, toMs }
  const matches = requestFilter(sent)
  const [, format] = /\b(text\/csv|application\/x-ndjson)\b/i.exec(call.headers.accept ?? '') ?? []
  if (format !== undefined) {
    const all = usageRows(tables, key?.id, range, 'oldest first')
    const rows = matches ? only(all, matches) : all
    if (!/csv/i.test(format)) return { type: 'application/x-ndjson', body: ndjsonLines(rows) }
    const headers = { 'Content-Disposition': 'attachment; filename="requests.csv"' }
    return { type: 'text/csv; charset=utf-8', headers, body: csvLines(rows) }
  }
  const [after] = readCursor(sent.after, /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/) ?? []
  const { rows, next } = await newestRequests(tables, { keyId: key?.id, range, limit, after, matches })
  const names = await namesOf(tables, new Set(rows.map(({ keyId }) => keyId)))
  const body: List<RequestLine> = {
    object: 'list',
    data: rows.map((row) => requestLine(row, names.get(row.keyId))),
    has_more: next !== undefined,
    last_id: next === undefined ? null : cursorOf(next),
  }
  return { body }
}

async function namesOf(tables: OperatorTables, keyIds: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const keys = await readKeys(tables, [...keyIds])
  return new Map(keys.map(({ id, name }) => [id, name]))
}

async function* only(rows: AsyncIterable<UsageRow>, matches: (row: UsageRow) => boolean) {
  for await (const row of rows) if (matches(row)) yield row
}

const lineOf = recordOf(LINE_FIELDS)

function requestLine(row: UsageRow, keyName: string | undefined): RequestLine {
  const more = { key_name: keyName ?? null, total_tokens: row.promptTokens + row.completionTokens }
  return { object: 'request.line', ...lineOf(row), ...more } as RequestLine
}

export async function getRequest(call: Call): Promise<Answer> {
  const requestId = call.path.id ?? ''
  const body = isRequestId(requestId) ? await requestShape(call, requestId) : undefined
  if (body) return { body }
  throw new AdminError('not_found', 'There is no request with that id. It is in the X-Request-Id header of an answer.')
}

async function requestShape({ tables, nowMs }: Call, requestId: string): Promise<RequestShape | undefined> {
  const row = await readUsageRow(tables)(requestId)
  if (!row) {
    const open = await findOpenHold(tables, requestId)
    return open && openRequest(requestId, open.key, open.hold, nowMs)
  }
  const key = await readKey(tables)(row.keyId)
  const hold = key?.holds[requestId]
  return {
    object: 'request',
    request_id: requestId,
    state: 'settled',
    key_id: row.keyId,
    key_name: key?.name ?? null,
    row: usageRecord(row) as NonNullable<RequestShape['row']>,
    hold: hold ? holdShape(requestId, hold, nowMs) : null,
    ...operatorPart(row),
    bill: billOf(row),
    attempts: row.attempts.map((attempt) => ({ ...attempt, words: attemptWords(attempt), said: attempt.said ?? null })),
    explanation: explainRequest(row, key, nowMs),
  }
}

function openRequest(requestId: string, key: Key, hold: Key['holds'][string], nowMs: number): RequestShape {
  return {
    object: 'request',
    request_id: requestId,
    state: 'open',
    key_id: key.id,
    key_name: key.name,
    row: null,
    hold: holdShape(requestId, hold, nowMs),
    ...operatorPart({}),
    bill: [],
    attempts: [],
    explanation: explainOpenHold(requestId, key, hold, nowMs),
  }
}

/** Empty for a free request, and for a row whose price or tokens are damaged. */
function billOf(row: UsageRow): BillLineShape[] {
  const { price } = row
  if (row.usageSource === 'none' || !price || !isStated(price) || !hasSoundTokens(row)) return []
  return billLines(parsePrice(price), quantitiesOf(row)).map(billLineShape)
}

function billLineShape({ kind, unit, count, pricePico, amountPico }: BillLine): BillLineShape {
  const isPiece = unit === 'piece'
  return {
    what: kind,
    quantity: count,
    price: isPiece ? formatDecimal(pricePico, 12) : formatPerMillion(pricePico),
    per: isPiece ? 'one' : 'million',
    amount: formatDecimal(amountPico, 12),
  }
}

/** The key that holds credits for a request. Only the keys themselves have that information, so all are read. */
export async function findOpenHold(
  tables: OperatorTables,
  requestId: string,
): Promise<{ key: Key; hold: Hold } | undefined> {
  for await (const key of newestKeys(tables)()) {
    const hold = key.holds[requestId]
    if (hold) return { key, hold }
  }
  return undefined
}
