import { ADMIN_SCOPES, type AdminScope } from '../../gateway/domain/admin-key.ts'
import { AdminError } from './admin-error.ts'
import type { Identity } from './call.ts'

/** The scopes for reading. */
export const READING_SCOPES = ADMIN_SCOPES.filter((scope) => scope.endsWith('.read'))

export function requireScope({ scopes }: Pick<Identity, 'scopes'>, scope: AdminScope): void {
  if (scopes.includes(scope)) return
  throw new AdminError('insufficient_scope', `This needs the scope ${scope}, which you do not have here.`)
}
