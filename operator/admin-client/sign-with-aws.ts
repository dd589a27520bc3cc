import { SignatureV4 } from '@smithy/signature-v4'
import { ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import { unsigned } from './gateway-refusal.ts'
import type { SignIn } from './sign-in.ts'

type SignerOptions = ConstructorParameters<typeof SignatureV4>[0]

/** The credentials, region and hash of a signature, as the clients of AWS's SDK have them. */
export type Signing = Pick<SignerOptions, 'credentials' | 'region' | 'sha256'>

/** AWS's Signature Version 4. */
export function byAws({ credentials, region, sha256 }: Signing): SignIn {
  const signer = new SignatureV4({ service: 'execute-api', credentials, region, sha256 })
  return {
    root: ADMIN_PATHS.signed,
    async sign(request, nowMs) {
      const { headers } = await signer.sign(request, { signingDate: new Date(nowMs) }).catch((cause) => {
        throw unsigned(cause)
      })
      return headers
    },
  }
}
