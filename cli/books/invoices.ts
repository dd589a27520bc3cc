import type { AccountDetail } from '../../layers/admin/api/shapes/accounts.ts'
import type { KeyDetail, KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shownGroups } from '../../layers/admin/usage/usage-numbers.ts'
import { DAY_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { formatCredits, parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { LEAST_ROW_DAYS } from '../../layers/gateway/domain/rows/closed-day.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import { payerIn } from '../../layers/gateway/domain/rows/statement.ts'
import { mapConcurrently } from '../../layers/gateway/platform/map-concurrently.ts'
import { type AskBooks, pathOf } from './ask-books.ts'
import { exportedRows } from './exported-rows.ts'

export type Invoices = Awaited<ReturnType<typeof gatherInvoices>>
export type Invoice = Awaited<ReturnType<typeof invoicesByCustomer>>[number]
type OfKey = Awaited<ReturnType<typeof invoiceOf>>['invoice']
export type InvoiceTotal = ReturnType<typeof totalOf>
export type InvoiceLine = ReturnType<typeof linesOf>[number] & {
  readonly key_id?: string
  readonly key_name?: string | null
}

type Range = { readonly fromMs: number; readonly toMs: number }

/** From the totals of a month's closed days, compared with the sums of days, which are kept apart, and with the rows. */
export async function gatherInvoices(session: AskBooks, month: string, asked: Asked) {
  const fromMs = Date.parse(`${month}-01T00:00:00Z`)
  const endMs = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)))
  const only = await keysAsked(session, month, asked)
  const whole = await usagePage(session, { fromMs, toMs: endMs }, 'key')
  const open = whole.data.filter(({ closed }) => !closed).map(({ start_time }) => start_time.slice(0, 10))
  const range = { fromMs, toMs: open[0] === undefined ? endMs : Date.parse(open[0]) }
  const hasDays = range.toMs > fromMs
  const books = hasDays && open.length > 0 ? await usagePage(session, range, 'key') : whole
  const groups = hasDays ? books.groups.filter(({ group }) => only?.has(group) ?? true) : []
  const rows = hasDays ? await sumsOfRows(session, range, asked, only) : new Map<string, UsageGroups>()
  const ids = new Set([...groups.map(({ group }) => group), ...rows.keys(), ...(only ?? [])])
  const problems = open.length === 0 ? [] : [openText(month, open)]
  const mayLackRows = fromMs + LEAST_ROW_DAYS * DAY_MS <= session.nowMs
  const made: OfKey[] = []
  const making = mapConcurrently(ids, 8, async (id) => {
    const ofRows = shownGroups(rows.get(id) ?? new UsageGroups(), 'model', undefined, 'all')
    return [{ ofRows: linesOf(ofRows, true), ...(await invoiceOf(session, id, range, ofRows, asked.all)) }]
  })
  for await (const { invoice, isGone, all, ofRows } of making) {
    const name = `${invoice.key_id} (${invoice.name ?? 'a key that is gone'})`
    const inBooks = groups.filter(({ group }) => group === invoice.key_id)
    const [ours, theirs] = [textOf(totalOf(all)), textOf(totalOf(linesOf(inBooks, true)))]
    if (ours !== theirs) problems.push(`${name}: the totals of days have ${ours}, and the sums of days ${theirs}.`)
    if (!isGone && !mayLackRows) problems.push(...differences(name, all, ofRows))
    if (invoice.lines.length > 0 || only?.has(invoice.key_id)) made.push(invoice)
  }
  const data = (await invoicesByCustomer(session, made)).sort((a, b) => (sortName(a) < sortName(b) ? -1 : 1))
  return {
    object: 'invoices' as const,
    month,
    /** The last day that is in it; null if no day of the month is closed. */
    closed_through: hasDays ? utcDay(range.toMs - 1) : null,
    problems: problems.sort(),
    data,
    total: totalOf(data.map(({ total }) => total)),
  }
}

const sortName = ({ name, key_id, account_id }: Invoice) => `${name ?? ''}\0${account_id ?? key_id}`

type Asked = { readonly [Name in 'key' | 'account']?: string | undefined } & { readonly all?: boolean | undefined }

async function keysAsked({ admin }: AskBooks, month: string, { key, account }: Asked) {
  if (account === undefined) return key === undefined ? undefined : new Set([key])
  const { data } = await admin.list<KeyShape>('/keys', { account })
  return new Set(data.filter((key) => accountIn(month, key)).map(({ id }) => id))
}

const accountIn = (month: string, { account_id, adopted_at }: KeyShape): string | null =>
  payerIn(month, account_id, adopted_at === null ? 0 : Date.parse(adopted_at)) ?? null

/** The keys of an account are on one invoice, which has a line for each key and model. */
function invoicesByCustomer(session: AskBooks, made: readonly OfKey[]) {
  const customers = Map.groupBy(made, ({ account_id, key_id }) => account_id ?? key_id)
  const making = [...customers].map(async ([id, ofKeys]) => {
    const account = id === ofKeys[0]?.account_id ? await session.admin.get<AccountDetail>(pathOf(id)) : undefined
    const lines = ofKeys.flatMap((own) =>
      own.lines.map((line): InvoiceLine => ({ ...(account && { key_id: own.key_id, key_name: own.name }), ...line })),
    )
    const { name = null, external_id = null } = account ?? ofKeys[0] ?? {}
    const ids = { account_id: account ? id : null, key_id: account ? null : id }
    return { ...ids, name, external_id, lines, total: totalOf(lines) }
  })
  return Promise.all(making)
}

function usagePage({ admin }: AskBooks, { fromMs, toMs }: Range, by: 'key' | 'model', keyId?: string) {
  const range = { from: isoTime(fromMs), to: isoTime(toMs) }
  // The buckets only tell which days are closed.
  return admin.get<UsagePage>('/usage', { ...range, bucket: '1d', group_by: by, key_id: keyId, calls: 'all', top: 1 })
}

function openText(month: string, open: readonly string[]): string {
  const days = open.length === 1 ? open[0] : `${open[0]} to ${open.at(-1)}`
  return `Not closed yet, and not in the invoices of ${month}: ${days}. A day is closed two hours and 16 minutes after its end.`
}

/** Made from the totals of a key's days; of a key that is gone, from its rows. */
async function invoiceOf(session: AskBooks, id: string, range: Range, ofRows: Groups, withFree = false) {
  const key = await keyIfAny(session, id)
  const ofTotals = async () => (range.fromMs < range.toMs ? (await usagePage(session, range, 'model', id)).groups : [])
  const groups = key ? await ofTotals() : ofRows
  const lines = linesOf(groups.filter((one) => one.cost !== '0' || one.completed > 0 || (withFree && one.requests > 0)))
  const { name = null, external_id = null } = key ?? {}
  const account_id = key ? accountIn(isoTime(range.fromMs), key) : null
  return { invoice: { key_id: id, account_id, name, external_id, lines }, isGone: !key, all: linesOf(groups, true) }
}

async function keyIfAny(session: AskBooks, id: string): Promise<KeyDetail | undefined> {
  return session.admin.get<KeyDetail>(pathOf(id)).catch((error) => {
    if (error.code === 'not_found') return undefined
    throw error
  })
}

/** The API finds no rows by the id of a key that is gone, so those of all keys are read. */
async function sumsOfRows(session: AskBooks, range: Range, { key, account }: Asked, only?: ReadonlySet<string>) {
  const key_id = key && (await keyIfAny(session, key))?.id
  const sums = new Map<string, UsageGroups>()
  for await (const row of exportedRows(session, 'invoice', { ...range, key_id, account })) {
    if (only && !only.has(row.keyId)) continue
    const ofKey = sums.get(row.keyId) ?? new UsageGroups()
    sums.set(row.keyId, ofKey)
    ofKey.add(row.model ?? '-', partOf(row))
  }
  return sums
}

type Groups = UsagePage['groups']

/** The requests for each model, as they are charged. No cost to the operator is in it. Older totals do not tell calls apart that asked no model. */
function linesOf(groups: Groups, withCalls = false) {
  return groups.map(({ group, requests: own, calls, prompt_tokens, completion_tokens, cost }) => {
    return { model: group, requests: withCalls ? own + calls : own, prompt_tokens, completion_tokens, charged: cost }
  })
}

type Counted = Omit<InvoiceLine, 'model'>

function totalOf(lines: readonly Counted[]) {
  const sum = (of: (line: Counted) => number) => lines.reduce((all, line) => all + of(line), 0)
  return {
    requests: sum(({ requests }) => requests),
    prompt_tokens: sum(({ prompt_tokens }) => prompt_tokens),
    completion_tokens: sum(({ completion_tokens }) => completion_tokens),
    charged: formatCredits(lines.reduce((all, { charged }) => all + (parseCredits(charged) ?? 0n), 0n)),
  }
}

/** Two accounts of the same requests, compared to the last nanocredit; nothing if they agree. */
function differences(name: string, lines: readonly InvoiceLine[], others: readonly InvoiceLine[]): string[] {
  const [ours, theirs] = [lines, others].map((all) => new Map(all.map((line) => [line.model, textOf(line)])))
  return [...new Set([...lines, ...others].map(({ model }) => model))]
    .map((model) => ({ model, our: ours?.get(model) ?? 'nothing', their: theirs?.get(model) ?? 'nothing' }))
    .filter(({ our, their }) => our !== their)
    .map(({ model, our, their }) => `${name}, ${model}: the totals of days have ${our}, and the rows ${their}.`)
}

function textOf({ requests, prompt_tokens, completion_tokens, charged }: InvoiceTotal): string {
  return `${requests} requests, ${prompt_tokens} + ${completion_tokens} tokens, ${charged} credits`
}
