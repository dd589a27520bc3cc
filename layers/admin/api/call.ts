import { randomBytes } from 'node:crypto'
import { ulid } from '../../gateway/domain/basics/time.ts'
import type { Act } from '../../gateway/domain/keys/act.ts'
import { OPERATOR_SCOPES, type OperatorScope } from '../../gateway/domain/keys/admin-scopes.ts'
import type { Seller } from '../../gateway/domain/rows/statement.ts'
import type { KeySources } from '../../gateway/providers/open-provider.ts'
import type { Allowance } from '../../gateway/store/admin-keys/allowance.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { AdminError } from './admin-error.ts'
import type { Warning } from './shapes/parts.ts'

type Random = (bytes: number) => Uint8Array

export type Administered = Seller & {
  readonly tables: Tables
  readonly stage: string
  readonly isProtected: boolean
  /** The gateway's address, without /v1. */
  readonly chatUrl: string
  readonly echoUrl?: string | undefined
  readonly clock: () => number
  readonly actMs?: number
  readonly random?: Random
  readonly apiKeys: KeySources
  readonly takesKeys: boolean
  readonly tellsNotices: boolean
  /** Lets the gateway in this process know a new catalog at once. */
  readonly renewCatalog?: (() => Promise<unknown>) | undefined
}

/** The caller. Its name is read only by a call that needs it. */
export type Identity = {
  readonly by: () => Promise<string>
  readonly scopes: readonly OperatorScope[]
  /** The most credits that the caller may grant; unlimited if undefined. */
  readonly allowance?: Allowance
  /** An admin key may not change the providers of the catalog: a leaked secret must not redirect the providers' keys. */
  readonly isAdminKey?: boolean
}

export type Headers = Readonly<Record<string, string | undefined>>

export type AdminRequest = {
  readonly method: string
  /** The path begins with /admin/v1, and has no query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names are in lower case. */
  readonly headers: Headers
  readonly body: Uint8Array
  readonly identity: Identity
}

export type AdminAsk = Omit<AdminRequest, 'identity'>

export type AdminAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | AsyncIterable<string>
}

export type Call = Administered & {
  readonly identity: Identity
  readonly headers: Headers
  readonly path: Readonly<Record<string, string>>
  /** A hash of method, path and body, by which a repeated request is recognised. */
  readonly digest: string
  readonly nowMs: number
  readonly random: Random
  readonly newAct: () => Promise<Act>
  /** Filled by the change, and told with its answer. */
  readonly warnings: Warning[]
}

/** An answer other than JSON, in pieces as they come. */
export class Lines {
  readonly headers: Readonly<Record<string, string>>
  readonly lines: AsyncIterable<string>

  constructor(type: string, lines: AsyncIterable<string>, headers: Readonly<Record<string, string>> = {}) {
    this.headers = { ...headers, 'Content-Type': type }
    this.lines = lines
  }
}

export const READING_SCOPES = OPERATOR_SCOPES.filter((scope) => scope.endsWith('.read'))

export function requireScope({ scopes }: Pick<Identity, 'scopes'>, scope: OperatorScope): void {
  if (scopes.includes(scope)) return
  throw new AdminError('insufficient_scope', `This needs the scope ${scope}, which you do not have here.`)
}

export function adminRequestId(nowMs: number, random: (bytes: number) => Uint8Array = randomBytes): string {
  return `adm_${ulid(nowMs, random(10))}`
}
