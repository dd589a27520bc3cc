import { type LastAudit, noteAudit } from '../../gateway/store/keys/last-audit.ts'
import { listKeys } from '../../gateway/store/keys/read-key.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { knownKey } from '../api/known-key.ts'
import { type Audit, auditKey } from './audit-key.ts'

/** Audits one key or all, one after the other. The result of an audit of all is stored. */
export async function* auditKeys(
  tables: Tables,
  keyId: string | undefined,
  clock: () => number,
): AsyncGenerator<Audit, void, undefined> {
  if (keyId !== undefined) {
    yield await auditKey(tables, await knownKey(tables, keyId), clock())
    return
  }
  let [keys, wrong] = [0, 0]
  for await (const key of listKeys(tables)()) {
    const audit = await auditKey(tables, key, clock())
    keys += 1
    if (!audit.ok) wrong += 1
    yield audit
  }
  await rememberAudit(tables, { atMs: clock(), keys, wrong })
}

/** A read-only caller may audit as well, and stores no result. */
export async function rememberAudit(tables: Tables, audit: LastAudit): Promise<void> {
  await noteAudit(tables)(audit).catch((error: Error) => {
    if (error.name !== 'AccessDeniedException') throw error
  })
}
