import type { KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shownGroups } from '../../layers/admin/usage/usage-numbers.ts'
import { DAY_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { formatCredits, parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { LEAST_ROW_DAYS } from '../../layers/gateway/domain/rows/closed-day.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import { mapConcurrently } from '../../layers/gateway/platform/map-concurrently.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { exportedRows } from './exported-rows.ts'
import { pathOf } from './one-key.ts'
import type { Session } from './open-session.ts'

export type Invoices = Awaited<ReturnType<typeof gatherInvoices>>
export type Invoice = Awaited<ReturnType<typeof invoiceOf>>['invoice']
export type InvoiceTotal = ReturnType<typeof totalOf>
export type InvoiceLine = ReturnType<typeof linesOf>[number]

type Range = { readonly fromMs: number; readonly toMs: number }

/** Requests that no model was asked for are free and on no invoice. */
const NO_MODEL = '-'
const KEYS_AT_ONCE = 8

/**
 * The invoices of a month, from the totals of its closed days. They are compared with the sums of days, which are kept
 * apart from the totals, and with the rows, as far as those cannot have expired.
 */
export async function gatherInvoices(session: Session, month: string, keyId: string | undefined) {
  const fromMs = Date.parse(`${month}-01T00:00:00Z`)
  const endMs = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)))
  const whole = await usagePage(session, { fromMs, toMs: endMs }, 'key')
  const open = whole.data.filter(({ closed }) => !closed).map(({ start_time }) => start_time.slice(0, 10))
  const range = { fromMs, toMs: open[0] === undefined ? endMs : Date.parse(open[0]) }
  const hasDays = range.toMs > fromMs
  const books = hasDays && open.length > 0 ? await usagePage(session, range, 'key') : whole
  const groups = hasDays ? books.groups.filter(({ group }) => keyId === undefined || group === keyId) : []
  const rows = hasDays ? await sumsOfRows(session, range, keyId) : new Map<string, UsageGroups>()
  const ids = new Set([...groups.map(({ group }) => group), ...rows.keys(), ...(keyId === undefined ? [] : [keyId])])
  const problems = open.length === 0 ? [] : [openText(month, open)]
  const mayLackRows = fromMs + LEAST_ROW_DAYS * DAY_MS <= session.nowMs
  const data: Invoice[] = []
  const made = mapConcurrently(ids, KEYS_AT_ONCE, async (id) => {
    const ofRows = linesOf(shownGroups(rows.get(id) ?? new UsageGroups(), 'model'))
    return [{ ofRows, ...(await invoiceOf(session, id, range, ofRows)) }]
  })
  for await (const { invoice, isGone, all, ofRows } of made) {
    const name = `${invoice.key_id} (${invoice.name ?? 'a key that is gone'})`
    const inBooks = groups.filter(({ group }) => group === invoice.key_id)
    const [ours, theirs] = [textOf(totalOf(all)), textOf(totalOf(linesOf(inBooks)))]
    if (ours !== theirs) problems.push(`${name}: the totals of days have ${ours}, and the sums of days ${theirs}.`)
    if (!isGone && !mayLackRows) problems.push(...differences(name, all, ofRows))
    if (invoice.lines.length > 0 || invoice.key_id === keyId) data.push(invoice)
  }
  data.sort((a, b) => (sortName(a) < sortName(b) ? -1 : 1))
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

const sortName = ({ name, key_id }: Invoice) => `${name ?? ''}\0${key_id}`

function usagePage({ admin }: Session, { fromMs, toMs }: Range, by: 'key' | 'model', keyId?: string) {
  const query = { bucket: '1d', group_by: by, from: isoTime(fromMs), to: isoTime(toMs), key_id: keyId }
  return admin.get<UsagePage>('/usage', query)
}

function openText(month: string, open: readonly string[]): string {
  const days = open.length === 1 ? open[0] : `${open[0]} to ${open.at(-1)}`
  return `Not closed yet, and not in the invoices of ${month}: ${days}. A day is closed two hours and 16 minutes after its end.`
}

/** Made from the totals of a key's days; of a key that is gone, from its rows. */
async function invoiceOf(session: Session, id: string, range: Range, ofRows: readonly InvoiceLine[]) {
  const key = await keyAt(session, id)
  const ofTotals = async () =>
    range.fromMs < range.toMs ? linesOf((await usagePage(session, range, 'model', id)).groups) : []
  const all = key ? await ofTotals() : ofRows
  const lines = all.filter(({ model, charged }) => model !== NO_MODEL || charged !== '0')
  const { name = null, external_id = null } = key ?? {}
  const invoice = { key_id: id, name, external_id, lines, total: totalOf(lines) }
  return { invoice, isGone: !key, all }
}

async function keyAt({ admin }: Session, id: string): Promise<KeyDetail | undefined> {
  return admin.get<KeyDetail>(pathOf(id)).catch((error) => {
    if (error instanceof Refusal && error.code === 'not_found') return undefined
    throw error
  })
}

/** The API finds no rows by the id of a key that is gone, so those of all keys are read. */
async function sumsOfRows(session: Session, range: Range, keyId: string | undefined) {
  const key_id = keyId && (await keyAt(session, keyId))?.id
  const sums = new Map<string, UsageGroups>()
  for await (const row of exportedRows(session, 'invoice', { ...range, key_id })) {
    if (keyId !== undefined && row.keyId !== keyId) continue
    const ofKey = sums.get(row.keyId) ?? new UsageGroups()
    sums.set(row.keyId, ofKey)
    ofKey.add(row.model ?? NO_MODEL, partOf(row))
  }
  return sums
}

/** The requests for each model, as they are charged. No cost to the operator is in it. */
function linesOf(groups: UsagePage['groups']) {
  return groups.map(({ group, requests, prompt_tokens, completion_tokens, cost }) => {
    return { model: group, requests, prompt_tokens, completion_tokens, charged: cost }
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
