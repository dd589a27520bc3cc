import { userInfo } from 'node:os'
import { endpointOf } from '../../layers/gateway/aws/endpoint.ts'
import type { SignIn } from '../../layers/gateway/aws/service.ts'
import { signRequest } from '../../layers/gateway/aws/sign-request.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'

/** A client of AWS's SDK, reduced to its region and credentials. */
export type SigningClient = { readonly config: Pick<OperatorTables['client']['config'], 'region' | 'credentials'> }

/** The sign-in of the person at this machine, as the SDK finds it: by variables, a profile or single sign-on. */
export function signInOf({ config }: SigningClient): SignIn {
  return async () => {
    const [region, credentials] = await Promise.all([config.region(), config.credentials()])
    return { region, credentials }
  }
}

/** The author of a change, as its event names them. */
export type WhoAmI = () => Promise<string>

const TIMEOUT_MS = 5_000
const BODY = 'Action=GetCallerIdentity&Version=2011-06-15'
const FORM = 'application/x-www-form-urlencoded'

export const localUser: WhoAmI = async () => userInfo().username

/**
 * The ARN behind the operator's credentials. Everyone may ask STS for their own. A leaked key must be revoked even if
 * STS cannot be reached: then the event has the user's name, and a note that AWS did not confirm it.
 */
export function awsCaller({ client }: { readonly client: SigningClient }): WhoAmI {
  let asked: Promise<string> | undefined
  return () => {
    asked ??= askSts(client).catch(async () => `${await localUser()} (not confirmed by AWS)`)
    return asked
  }
}

async function askSts(client: SigningClient): Promise<string> {
  const { region, credentials } = await signInOf(client)()
  const url = new URL(
    '/',
    process.env.AWS_ENDPOINT_URL_STS || process.env.AWS_ENDPOINT_URL || endpointOf('sts', region),
  )
  const signing = { service: 'sts', region, credentials, nowMs: Date.now() }
  const unsigned = { method: 'POST', path: '/', headers: { host: url.host, 'content-type': FORM }, body: BODY }
  const headers = signRequest(signing, unsigned)
  const answer = await fetch(url, { method: 'POST', headers, body: BODY, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const [, arn] = /<Arn>([^<]+)<\/Arn>/.exec(await answer.text()) ?? []
  if (arn === undefined) throw new Error(`STS answered with status ${answer.status}.`)
  return arn
}
