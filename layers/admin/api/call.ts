import { randomBytes } from 'node:crypto'
import type { Act } from '../../gateway/domain/act.ts'
import { ADMIN_SCOPES, type AdminScope } from '../../gateway/domain/admin-key.ts'
import type { Nano } from '../../gateway/domain/money.ts'
import { ulid } from '../../gateway/domain/ulid.ts'
import type { Allowance } from '../../gateway/store/admin-keys/allowance.ts'
import type { OperatorTables } from '../../gateway/store/operator-tables.ts'
import { AdminError } from './admin-error.ts'

type Random = (bytes: number) => Uint8Array

/** The gateway that is administered. */
export type Administered = {
  readonly tables: OperatorTables
  readonly stage: string
  /** A change is asked about first. */
  readonly isProtected: boolean
  /** Without /v1. */
  readonly chatUrl: string
  /** Of the upstream that a local gateway brings along. */
  readonly echoUrl?: string | undefined
  readonly clock: () => number
  /** The time that a change has, unless it is the usual. */
  readonly actMs?: number
  /** The source of ids and secrets: the machine's own, unless it is said. */
  readonly random?: Random
  /** Only on an operator's own machine: it takes the providers' keys, or longer than a function may. */
  readonly onThisMachine?: { readonly testRoutes: (wanted: WantedRoutes) => Promise<readonly RouteTest[]> }
}

/** All routes, or those of one model or provider. */
export type WantedRoutes = { readonly model?: string | undefined; readonly provider?: string | undefined }

export type RouteTest = {
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
  readonly ok: boolean
  readonly result: string
  readonly firstTokenMs?: number | undefined
  readonly tokens?: number | undefined
  readonly cost?: Nano | undefined
}

/** Who asks. The name is asked for only by a call that needs it. */
export type Identity = {
  readonly by: () => Promise<string>
  readonly scopes: readonly AdminScope[]
  /** The credits that may be granted at most; as many as the caller likes unless it is said. */
  readonly allowance?: Allowance
  /** Providers of the catalog stay as they are: a bearer of a secret may not say where the providers' keys go. */
  readonly isAdminKey?: boolean
}

export type Headers = Readonly<Record<string, string | undefined>>

export type AdminRequest = {
  readonly method: string
  /** With /admin/v1, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** By their names in lower case. */
  readonly headers: Headers
  readonly body: Uint8Array
  readonly identity: Identity
}

export type AdminAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Whole, or in pieces as they come. */
  readonly body: string | AsyncIterable<string>
}

/** A request whose route is found and whose caller may make it. */
export type Call = Administered & {
  readonly identity: Identity
  readonly headers: Headers
  /** The parts of the path that the route leaves open. */
  readonly path: Readonly<Record<string, string>>
  /** Method, path and body in one form, to know the same request again. */
  readonly digest: string
  readonly nowMs: number
  readonly random: Random
  /** A change that the caller makes now. */
  readonly newAct: () => Promise<Act>
}

export type Answer = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly type?: string
  readonly body: object | AsyncIterable<string>
}

/** Enough to look, and to change nothing. */
export const READING_SCOPES = ADMIN_SCOPES.filter((scope) => scope.endsWith('.read'))

export function requireScope({ scopes }: Pick<Identity, 'scopes'>, scope: AdminScope): void {
  if (scopes.includes(scope)) return
  throw new AdminError('insufficient_scope', `This needs the scope ${scope}, which you do not have here.`)
}

/** The name of a call to the admin API, which its answer and the log have. */
export function adminRequestId(nowMs: number, random: (bytes: number) => Uint8Array = randomBytes): string {
  return `adm_${ulid(nowMs, random(10))}`
}
