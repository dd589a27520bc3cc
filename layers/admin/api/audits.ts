import type { z } from 'zod'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { Account } from '../../gateway/domain/keys/account.ts'
import { isAccountId, type Key } from '../../gateway/domain/keys/key.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { keepProgress, type LastAudit, noteAudit, readProgress } from '../../gateway/store/keys/last-audit.ts'
import { listAll, listKeys } from '../../gateway/store/keys/read-key.ts'
import type { AddedRows } from '../audit/add-rows.ts'
import { auditAccount } from '../audit/audit-account.ts'
import { auditKey } from '../audit/audit-key.ts'
import { findingText } from '../audit/findings.ts'
import { type Call, Lines } from './call.ts'
import { isAccount, kindOf, oneAskedFor } from './changed-key.ts'
import { cursorOf, noSuchPage, readCursor } from './pages.ts'
import type { auditBody } from './shapes/bodies.ts'
import type { AuditLine } from './shapes/books.ts'

/** A page ends when it has taken so long, or has so many keys: an answer of a function is bounded in both. */
const PAGE_MS = 3_000
const PAGE_KEYS = 500

/** The outcome of the pages before is kept here, and the cursor is its random name, so that no caller can invent one. */
export async function auditPage(call: Call, sent: z.output<typeof auditBody>): Promise<Lines> {
  const only = await oneAskedFor(call, sent, 'audited')
  const [name] = readCursor(sent.after, /^[\w-]{22}$/) ?? []
  const state = name === undefined ? FROM_THE_START : await readProgress(call.tables)(name)
  if (state === undefined) throw noSuchPage()
  return new Lines('application/x-ndjson', auditLines(call, only, JSON.parse(state, readNano)))
}

type Progress = Pick<LastAudit, 'keys' | 'wrong'> & {
  readonly accounts: number
  readonly lastId?: string | undefined
  /** The rows of the key after the last one, if there was not time for all of them. */
  readonly begun?: AddedRows | undefined
}

const FROM_THE_START = '{"keys":0,"accounts":0,"wrong":0}'

function readNano(_: string, value: { readonly nano?: string } | null): unknown {
  return value?.nano === undefined ? value : BigInt(value.nano)
}

async function keptUnder(call: Call, progress: Progress): Promise<string> {
  const name = Buffer.from(call.random(16)).toString('base64url')
  const text = JSON.stringify(progress, (_, value) => (typeof value === 'bigint' ? { nano: String(value) } : value))
  await keepProgress(call.tables)(name, text, call.nowMs)
  return cursorOf(name)
}

async function* ownersAfter(tables: Tables, lastId?: string): AsyncGenerator<Key | Account> {
  const areKeysDone = lastId !== undefined && isAccountId(lastId)
  if (!areKeysDone) yield* listKeys(tables)(lastId)
  // The pool of a key is audited with it.
  for await (const account of listAll(tables, ACCOUNT)(areKeysDone ? lastId : undefined)) {
    if (isAccount(account)) yield account
  }
}

async function* auditLines(call: Call, only: Key | Account | undefined, before: Progress): AsyncGenerator<string> {
  const { tables, clock, identity } = call
  const endsMs = clock() + PAGE_MS
  const isOver = () => clock() >= endsMs
  let { lastId, keys, accounts, wrong, begun } = before
  let hasMore = false
  for await (const owner of only ? [only] : ownersAfter(tables, lastId)) {
    const done = keys + accounts - before.keys - before.accounts
    hasMore = done > 0 && (isOver() || done === PAGE_KEYS)
    if (hasMore) break
    const time = { isOver, begun: begun?.keyId === owner.id ? begun : undefined }
    const audit = isAccount(owner) ? await auditAccount(tables, owner) : await auditKey(tables, owner, clock(), time)
    begun = 'beforeMs' in audit ? audit : undefined
    hasMore = begun !== undefined
    if ('beforeMs' in audit) break
    lastId = owner.id
    if (isAccount(owner)) accounts += 1
    else keys += 1
    if (!audit.ok) wrong += 1
    yield line({ ...audit, findings: audit.findings.map((finding) => findingText(finding, kindOf(owner.id).name)) })
  }
  const atMs = clock()
  // An admin key only looks.
  if (!only && !hasMore && !identity.isAdminKey) await noteAudit(tables)({ atMs, keys, wrong })
  const cursor = hasMore ? await keptUnder(call, { lastId, keys, accounts, wrong, begun }) : null
  yield line({ object: 'audit.summary', keys, accounts, wrong, at: isoTime(atMs), has_more: hasMore, last_id: cursor })
}

function line(value: AuditLine): string {
  return `${JSON.stringify(value)}\n`
}
