import { ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import { signRequest } from '../../layers/gateway/platform/aws/sign-request.ts'
import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { unsigned } from './read-answer.ts'

/** The way in which a caller tells the admin API who it is: a signature of AWS, an admin key, or a local token. */
export type SignIn = {
  readonly root: string
  /** The headers of the request, with the proof of the caller. */
  readonly sign: (
    request: Parameters<typeof signRequest>[1],
    nowMs: number,
    /** Only a signature of AWS is for other services, too. */
    service?: 'monitoring',
  ) => Promise<Readonly<Record<string, string>>>
}

export type Signing = { readonly credentials: Found<Credentials>; readonly region: Found<string> }
type Found<T> = T | (() => Promise<T>)

const found = async <T>(value: Found<T>): Promise<T> => (value instanceof Function ? value() : value)

export function byAws({ credentials, region }: Signing): SignIn {
  return {
    root: ADMIN_PATHS.signed,
    async sign(request, nowMs, service) {
      const [by, at] = await Promise.all([found(credentials), found(region)]).catch((cause) => {
        throw unsigned(cause)
      })
      return signRequest({ service: service ?? 'execute-api', region: at, credentials: by, nowMs }, request)
    },
  }
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
