import type { KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { inWords } from '../admin-client/refusal.ts'
import type { Session } from './run.ts'
import { showChanges } from './show-change.ts'

// Shared by the commands about one key.

export function confirmFor(session: Session, id: string, describe: (key: string) => string): Promise<void> {
  return session.confirm(async () => describe(`${id} (${(await knownKey(session, id)).name})`))
}

/** With --json the whole answer, otherwise the changes only. */
export function showChange(
  { out, json }: Session,
  key: KeyDetail,
  changes: readonly string[],
  answer: object = key,
): void {
  if (json) printJson(out, answer)
  else showChanges(key, changes, out)
}

export function knownKey({ admin }: Session, id: string): Promise<KeyDetail> {
  return existing(id, admin.get(pathOf(id)))
}

export function existing<T>(id: string | undefined, asked: Promise<T>): Promise<T> {
  if (id === undefined) return asked
  return inWords(asked, { not_found: `There is no key '${id}'. 'waybill keys list' shows those that exist.` })
}

export function pathOf(id: string): string {
  return `/keys/${encodeURIComponent(id)}`
}
