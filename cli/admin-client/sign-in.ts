import { ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'

export type SentHeaders = Readonly<Record<string, string>>

/** A request as it goes out, as far as a signature covers it. */
export type Outgoing = {
  readonly method: string
  readonly path: string
  readonly query: Record<string, string[]>
  readonly headers: Record<string, string>
  readonly body?: Uint8Array
}

/** The way in which a caller tells the admin API who it is: a signature of AWS, an admin key, or a local token. */
export type SignIn = {
  /** The path of the admin API for callers who come this way. */
  readonly root: string
  /** The headers of the request, with the proof of the caller. */
  readonly sign: (request: Outgoing, nowMs: number) => Promise<SentHeaders>
}

export function byAdminKey(secret: string): SignIn {
  return { root: ADMIN_PATHS.keyed, sign: bearer(secret) }
}

/** The token of a local gateway, which is for the owner of its folder only. */
export function byLocalToken(token: string): SignIn {
  return { root: ADMIN_PATHS.signed, sign: bearer(token) }
}

function bearer(secret: string): SignIn['sign'] {
  return async ({ headers }) => ({ ...headers, authorization: `Bearer ${secret}` })
}
