import type { z } from 'zod'
import { DAY_MS, isRequestId } from '../../gateway/domain/basics/time.ts'
import { accountIdOf, type Key } from '../../gateway/domain/keys/key.ts'
import { type BillLine, formatPerMillion, formatPerToken } from '../../gateway/domain/money/price.ts'
import { billOf } from '../../gateway/domain/rows/charges.ts'
import { earliestRowMs, latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import { isRequest, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { readWhole, wholeKeys } from '../../gateway/store/accounts/whole-keys.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { newestKeys, readKeys } from '../../gateway/store/keys/newest-keys.ts'
import { newestRequests } from '../../gateway/store/rows/newest-requests.ts'
import { readUsageRow, usageRows } from '../../gateway/store/rows/usage-rows.ts'
import { recordOf, usageRecord } from '../../gateway/wire/rows/usage-record.ts'
import { attemptWords, explainOpenHold, explainRequest } from '../explain/explain-request.ts'
import { requestFilter } from '../usage/request-filter.ts'
import { csvLines, ndjsonLines, operatorPart } from '../usage/usage-lines.ts'
import { AdminError } from './admin-error.ts'
import { type Call, Lines } from './call.ts'
import { accountNames, keysAskedFor } from './changed-key.ts'
import { holdShape } from './key-shape.ts'
import { cursorOf, pageOf, readCursor, requireRange } from './pages.ts'
import type { List } from './shapes/answers.ts'
import { LINE_FIELDS, type requestsQuery } from './shapes/queries.ts'
import type { BillLineShape, RequestLine, RequestShape } from './shapes/requests.ts'

/** If no range is given: all requests of one key or account, or those of all keys in the last 24 hours. */
export async function list(call: Call, sent: z.output<typeof requestsQuery>): Promise<List<RequestLine> | Lines> {
  const { tables, nowMs, headers } = call
  const keys = await keysAskedFor(call, sent)
  const firstMs = keys ? Math.min(nowMs, ...keys.map(earliestRowMs)) : 0
  const fromMs = sent.from ?? (keys ? firstMs : nowMs - DAY_MS)
  const toMs = Math.min(sent.to ?? Infinity, latestRowMs(nowMs))
  requireRange(fromMs, toMs)
  const range = { fromMs: Math.max(fromMs, firstMs), toMs }
  const matches = requestFilter(sent)
  const keyIds = keys?.map(({ id }) => id)
  const [, format] = /\b(text\/csv|application\/x-ndjson)\b/i.exec(headers.accept ?? '') ?? []
  if (format !== undefined) {
    const rows = only(usageRows(tables, keyIds, range), matches)
    const isWithCost = sent.with_cost === 'true'
    if (!/csv/i.test(format)) return new Lines('application/x-ndjson', ndjsonLines(rows, isWithCost))
    return new Lines('text/csv; charset=utf-8', csvLines(named(tables, rows), isWithCost), {
      'Content-Disposition': 'attachment; filename="requests.csv"',
    })
  }
  const [after] = readCursor(sent.after, /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/) ?? []
  const { rows, next } = await newestRequests(tables, { keyIds, range, limit: sent.limit, after, matches })
  const callers = await readKeys(tables, [...new Set(rows.map(({ keyId }) => keyId))])
  const byId = new Map(callers.map((key) => [key.id, key]))
  const accounts = await accountNames(tables, callers)
  const lines = rows.map((row) => {
    const line = lineOf(isRequest(row) ? row : { ...row, model: undefined })
    const total_tokens = row.promptTokens + row.completionTokens
    return { object: 'request.line', ...line, ...namedKey(byId.get(row.keyId), accounts), total_tokens } as RequestLine
  })
  return pageOf(lines, next !== undefined, next && cursorOf(next))
}

async function* only(rows: AsyncIterable<UsageRow>, matches: (row: UsageRow) => boolean) {
  for await (const row of rows) if (matches(row)) yield row
}

/** With the names of keys and accounts. The rows of a key come together. */
async function* named(tables: Tables, rows: AsyncIterable<UsageRow>) {
  let [keyId, names] = ['', namedKey(undefined, new Map())]
  for await (const row of rows) {
    if (row.keyId !== keyId) {
      const keys = await readKeys(tables, [row.keyId])
      keyId = row.keyId
      names = namedKey(keys[0], await accountNames(tables, keys))
    }
    yield { ...row, ...names }
  }
}

const lineOf = recordOf(LINE_FIELDS)

function namedKey(key: Key | undefined, accounts: ReadonlyMap<string, string>) {
  const accountId = (key && accountIdOf(key)) ?? null
  return { key_name: key?.name ?? null, account_id: accountId, account_name: accounts.get(accountId ?? '') ?? null }
}

export async function get(call: Call): Promise<RequestShape> {
  const { id: requestId = '' } = call.path
  const request = isRequestId(requestId) ? await requestShape(call, requestId) : undefined
  if (request) return request
  throw new AdminError('not_found', 'There is no request with that id. It is in the X-Request-Id header of an answer.')
}

async function requestShape({ tables, nowMs }: Call, requestId: string): Promise<RequestShape | undefined> {
  const row = await readUsageRow(tables)(requestId)
  const key = row ? await readWhole(tables)(row.keyId, nowMs) : await keyHolding(tables, requestId, nowMs)
  const hold = key?.holds[requestId]
  const named = namedKey(key, await accountNames(tables, key ? [key] : []))
  const common = {
    object: 'request',
    request_id: requestId,
    ...named,
    hold: hold ? holdShape(requestId, hold, nowMs) : null,
    ...operatorPart(row ?? {}),
  } as const
  if (row) {
    return {
      ...common,
      state: 'settled',
      key_id: row.keyId,
      row: usageRecord(row) as NonNullable<RequestShape['row']>,
      // Empty for a free request, and for a row whose price or tokens are damaged.
      bill: ((row.usageSource !== 'none' && billOf(row)) || []).map(billLineShape),
      attempts: row.attempts.map((one) => ({ ...one, words: attemptWords(one), said: one.said ?? null })),
      explanation: explainRequest(row, key, nowMs, named.account_name),
    }
  }
  if (!key || !hold) return undefined
  const explanation = explainOpenHold(requestId, key, hold, nowMs)
  return { ...common, state: 'open', key_id: key.id, row: null, bill: [], attempts: [], explanation }
}

function billLineShape({ kind, unit, count, pricePico, amountPico }: BillLine): BillLineShape {
  const isPiece = unit === 'piece'
  return {
    what: kind,
    quantity: count,
    price: isPiece ? formatPerToken(pricePico) : formatPerMillion(pricePico),
    per: isPiece ? 'one' : 'million',
    amount: formatPerToken(amountPico),
  }
}

/** The key that holds credits for a request. Only the keys themselves have that information, so all are read. */
export async function keyHolding(tables: Tables, requestId: string, nowMs: number): Promise<Key | undefined> {
  for await (const first of newestKeys(tables)()) {
    const [key = first] = first.lane ? await wholeKeys(tables)([first], nowMs) : []
    if (key.holds[requestId]) return key
  }
  return undefined
}
