import type { KeyDetail, KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { inWords } from '../admin-client/refusal.ts'
import type { Session } from './open-session.ts'

// Shared by the commands about one key.

export function pathOf(id: string): string {
  return `/keys/${encodeURIComponent(id)}`
}

export function knownKey({ admin }: Session, id: string): Promise<KeyDetail> {
  return existing(id, admin.get(pathOf(id)))
}

export function existing<T>(id: string, asked: Promise<T>): Promise<T> {
  return inWords(asked, { not_found: `There is no key '${id}'. 'waybill keys list' shows those that exist.` })
}

export function confirmFor(session: Session, id: string, describe: (key: string) => string): Promise<void> {
  return session.confirm(async () => describe(`${id} (${(await knownKey(session, id)).name})`))
}

type Named = Pick<KeyShape, 'id' | 'name'>

/** With --json the whole answer, otherwise the changes only. */
export function showChange({ out, json }: Session, key: Named, changes: readonly string[], answer: object = key): void {
  const heading = plainLine(`${key.name} (${key.id})`)
  const lines = changes.map((change) => out.paint.strong(plainLine(change)))
  if (json) printJson(out, answer)
  else if (changes.length === 0) out.painted(`${heading} is as it was.`)
  else out.painted([`${heading} is changed:`, ...lines].join('\n  '))
}

export function changeLine(name: string, before: string, after: string): string {
  return `${name} ${before} → ${after}`
}

type Rotated = Named & Pick<KeyShape, 'last_four'> & { readonly previous: Ending | null }
type Ending = Pick<NonNullable<KeyShape['previous']>, 'last_four' | 'expires_at'>

export function rotationChanges({ previous, last_four }: Rotated): string[] {
  if (!previous) return [`only the secret …${last_four} is valid now`]
  return [
    changeLine('secret', `…${previous.last_four}`, `…${last_four}`),
    `old secret …${previous.last_four} valid until ${previous.expires_at}`,
  ]
}
