import type { KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { DAY_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { LEAST_ROW_DAYS } from '../../layers/gateway/domain/rows/closed-day.ts'
import { mapConcurrently } from '../../layers/gateway/platform/map-concurrently.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { exportedLines } from './exported-rows.ts'
import { differenceOf, type Invoice, type Invoices, ModelSums, NO_MODEL, textOf, totalOf } from './invoice-lines.ts'
import { pathOf } from './one-key.ts'
import type { Session } from './run.ts'
import { rowOf } from './summed-rows.ts'

const KEYS_AT_ONCE = 8

type Range = { readonly fromMs: number; readonly toMs: number }

/**
 * The invoices of a month, from the totals of its closed days. They are compared with the sums of days, which are kept
 * apart from the totals, and with the rows, as far as those cannot have expired.
 */
export async function gatherInvoices(session: Session, month: string, keyId: string | undefined): Promise<Invoices> {
  const { admin, nowMs } = session
  const fromMs = Date.parse(`${month}-01T00:00:00Z`)
  const endMs = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)))
  const whole = await admin.get<UsagePage>('/usage', queryOf({ fromMs, toMs: endMs }, 'key'))
  const open = whole.data.filter(({ closed }) => !closed).map(({ start_time }) => start_time.slice(0, 10))
  const toMs = open[0] === undefined ? endMs : Date.parse(open[0])
  const range = { fromMs, toMs }
  const books =
    toMs === endMs ? whole : toMs > fromMs ? await admin.get<UsagePage>('/usage', queryOf(range, 'key')) : undefined
  const groups = (books?.groups ?? []).filter(({ group }) => keyId === undefined || group === keyId)
  const rows = toMs > fromMs ? await sumsOfRows(session, range, keyId) : new Map<string, ModelSums>()
  const ids = new Set([...groups.map(({ group }) => group), ...rows.keys(), ...(keyId === undefined ? [] : [keyId])])
  const problems = open.length === 0 ? [] : [openText(month, open)]
  const mayLackRows = fromMs + LEAST_ROW_DAYS * DAY_MS <= nowMs
  const invoices: Invoice[] = []
  const made = mapConcurrently(ids, KEYS_AT_ONCE, async (id) => [await invoiceOf(session, id, range, rows.get(id))])
  for await (const { invoice, isGone, all } of made) {
    const name = `${invoice.key_id} (${invoice.name ?? 'a key that is gone'})`
    const inBooks = groups.find(({ group }) => group === invoice.key_id)
    const [ours, theirs] = [textOf(totalOf(all)), textOf(bookTotal(inBooks))]
    if (ours !== theirs) problems.push(`${name}: the totals of days have ${ours}, and the sums of days ${theirs}.`)
    if (!isGone && !mayLackRows) problems.push(...differenceOf(name, all, rows.get(invoice.key_id)?.lines() ?? []))
    if (invoice.lines.length > 0 || invoice.key_id === keyId) invoices.push(invoice)
  }
  const data = invoices.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return {
    object: 'invoices',
    month,
    closed_through: toMs > fromMs ? utcDay(toMs - 1) : null,
    problems: problems.sort(),
    data,
    total: totalOf(data.map(({ total }) => total)),
  }
}

const nameOf = ({ name, key_id }: Invoice) => `${name ?? ''}\0${key_id}`

function queryOf({ fromMs, toMs }: Range, by: 'key' | 'model', keyId?: string) {
  return { bucket: '1d', group_by: by, from: isoTime(fromMs), to: isoTime(toMs), key_id: keyId }
}

function openText(month: string, open: readonly string[]): string {
  const days = open.length === 1 ? open[0] : `${open[0]} to ${open.at(-1)}`
  return `Not closed yet, and not in the invoices of ${month}: ${days}. A day is closed two hours and 16 minutes after its end.`
}

function bookTotal(group: UsagePage['groups'][number] | undefined) {
  const { requests = 0, prompt_tokens = 0, completion_tokens = 0, cost = '0' } = group ?? {}
  return { requests, prompt_tokens, completion_tokens, charged: cost }
}

/** From the totals of a key's days; of a key that is gone, from its rows. */
async function invoiceOf({ admin }: Session, id: string, range: Range, rows: ModelSums | undefined) {
  const key = await admin.get<KeyDetail>(pathOf(id)).catch(whereGone)
  const all = key ? await linesOfTotals() : (rows?.lines() ?? [])
  const lines = all.filter(({ model, charged }) => model !== NO_MODEL || charged !== '0')
  const invoice: Invoice = {
    key_id: id,
    name: key?.name ?? null,
    external_id: key?.external_id ?? null,
    lines,
    total: totalOf(lines),
  }
  return { invoice, isGone: !key, all }

  async function linesOfTotals() {
    if (range.fromMs >= range.toMs) return []
    const { groups } = await admin.get<UsagePage>('/usage', queryOf(range, 'model', id))
    const sums = new ModelSums()
    for (const group of groups) sums.add(group.group, group)
    return sums.lines()
  }
}

function whereGone(error: unknown): undefined {
  if (error instanceof Refusal && error.code === 'not_found') return undefined
  throw error
}

/** The API finds no rows by the id of a key that is gone, so those of all keys are read. */
async function sumsOfRows({ admin, progress }: Session, range: Range, keyId: string | undefined) {
  const key = keyId && (await admin.get<KeyDetail>(pathOf(keyId)).catch(whereGone))?.id
  const sums = new Map<string, ModelSums>()
  let count = 0
  for await (const exported of exportedLines(admin, { ...range, key })) {
    progress.say(`invoice: ${++count} rows`)
    if (keyId !== undefined && exported.key_id !== keyId) continue
    const { model = NO_MODEL, promptTokens, completionTokens, cost } = rowOf(exported)
    const ofKey = sums.get(exported.key_id) ?? new ModelSums()
    sums.set(exported.key_id, ofKey)
    ofKey.add(model, {
      requests: 1,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      cost: formatCredits(cost),
    })
  }
  return sums
}
