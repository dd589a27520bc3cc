import { ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import { signRequest } from '../../layers/gateway/platform/aws/sign-request.ts'
import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { unsigned } from './gateway-refusal.ts'
import type { SignIn } from './sign-in.ts'

/** The credentials and the region of a signature, as the clients of AWS's SDK have them. */
export type Signing = { readonly credentials: Found<Credentials>; readonly region: Found<string> }
type Found<T> = T | (() => Promise<T>)

/** AWS's Signature Version 4. */
export function byAws({ credentials, region }: Signing): SignIn {
  return {
    root: ADMIN_PATHS.signed,
    async sign(request, nowMs) {
      const [by, at] = await Promise.all([found(credentials), found(region)]).catch((cause) => {
        throw unsigned(cause)
      })
      return signRequest({ service: 'execute-api', region: at, credentials: by, nowMs }, request)
    },
  }
}

const found = async <T>(value: Found<T>): Promise<T> => (value instanceof Function ? value() : value)
