import { z } from 'zod'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { type LastAudit, noteAudit } from '../../gateway/store/keys/last-audit.ts'
import { listKeys } from '../../gateway/store/keys/read-key.ts'
import { type Audit, auditKey } from '../audit/audit-key.ts'
import type { ClosedDays } from '../audit/closed-days.ts'
import { findingText } from '../audit/findings.ts'
import type { Answer, Call } from './call.ts'
import { keyNamed } from './changed-key.ts'
import { wrong as wrongField } from './fields.ts'
import { cursorOf, readCursor } from './pages.ts'
import type { auditBody } from './shapes/bodies.ts'
import type { AuditLine, AuditShape } from './shapes/books.ts'

/** A page ends when it has taken so long, or has so many keys: an answer of a function is bounded in both. */
const PAGE_MS = 3_000
const PAGE_KEYS = 500

const COUNT = /^\d{1,30}$/
const LAST_ID = /^(key_\w{1,40})?$/

/** A line for each key, and a last one. If the last one is missing, the audit broke off. */
export async function auditPage(call: Call, { key_id: keyId, after }: z.output<typeof auditBody>): Promise<Answer> {
  const key = await keyNamed(call, keyId)
  const [lastId, keys = 0, wrong = 0, begun = ''] = readCursor(after, LAST_ID, COUNT, COUNT, /^({.*})?$/s) ?? []
  const before = { lastId: lastId || undefined, keys: Number(keys), wrong: Number(wrong), begun: readBegun(begun) }
  return { type: 'application/x-ndjson', body: auditLines(call, key && [key], before) }
}

/** The outcome of the pages before. */
type Before = Pick<LastAudit, 'keys' | 'wrong'> & {
  readonly lastId: string | undefined
  /** The closed days of the key after the last one, if there was not time for all of them. */
  readonly begun: ClosedDays | undefined
}

const finding = z.object({
  requestId: z.string().optional(),
  what: z.string(),
  expected: z.string().optional(),
  got: z.union([z.string(), z.number()]).optional(),
  advice: z.string().optional(),
  note: z.literal(true).optional(),
})
/** A cursor is text: amounts of credits in a finding are as they are told. */
const begunDays = z.object({
  keyId: z.string(),
  nextDay: z.iso.date(),
  isWhole: z.literal(false),
  rows: z.int(),
  costs: z.string().regex(COUNT).transform(BigInt),
  expiredRows: z.int(),
  findings: z.object({ kept: z.array(finding), omitted: z.int(), wrong: z.int() }),
})

function readBegun(text: string): ClosedDays | undefined {
  if (text === '') return undefined
  try {
    return begunDays.parse(JSON.parse(text)) as ClosedDays
  } catch {
    throw wrongField('after', 'must be the last_id of the list before.')
  }
}

function begunText(begun: ClosedDays): string {
  return JSON.stringify(begun, (name, value) =>
    typeof value !== 'bigint' ? value : name === 'costs' ? String(value) : formatCredits(value),
  )
}

async function* auditLines(call: Call, only: readonly Key[] | undefined, before: Before): AsyncGenerator<string> {
  const { tables, clock, identity } = call
  const endsMs = clock() + PAGE_MS
  const isOver = () => clock() >= endsMs
  let { lastId, keys, wrong, begun } = before
  let hasMore = false
  for await (const key of only ?? listKeys(tables)(lastId)) {
    hasMore = keys > before.keys && (isOver() || keys === before.keys + PAGE_KEYS)
    if (hasMore) break
    const audit = await auditKey(tables, key, clock(), { isOver, begun: begun?.keyId === key.id ? begun : undefined })
    begun = 'isWhole' in audit ? audit : undefined
    hasMore = begun !== undefined
    if ('isWhole' in audit) break
    lastId = key.id
    keys += 1
    if (!audit.ok) wrong += 1
    yield line(auditShape(audit))
  }
  const atMs = clock()
  // A program could invent the pages before, and with them a good end.
  if (!only && !hasMore && !identity.isAdminKey) await noteAudit(tables)({ atMs, keys, wrong })
  const cursor = hasMore ? cursorOf(lastId ?? '', keys, wrong, begun ? begunText(begun) : '') : null
  yield line({ object: 'audit.summary', keys, wrong, at: isoTime(atMs), has_more: hasMore, last_id: cursor })
}

function auditShape(audit: Audit): AuditShape {
  return {
    object: 'audit',
    key_id: audit.id,
    name: audit.name,
    granted: formatCredits(audit.granted),
    available: formatCredits(audit.available),
    held: formatCredits(audit.held),
    spent: formatCredits(audit.spent),
    rows: audit.rows,
    row_costs: formatCredits(audit.rowCosts),
    expired_rows: audit.expiredRows,
    balances: audit.balances,
    explained: audit.explained,
    ok: audit.ok,
    findings: audit.findings.map((finding) => ({ ...findingText(finding), note: finding.note === true })),
    more_findings: audit.moreFindings,
  }
}

function line(value: AuditLine): string {
  return `${JSON.stringify(value)}\n`
}
