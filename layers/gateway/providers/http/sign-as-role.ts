import { signingName } from '../../domain/routing/bedrock-address.ts'
import type { AnthropicEntry, OpenAiEntry } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { signRequest } from '../../platform/aws/sign-request.ts'
import { type Credentials, readCredentials } from '../../platform/config.ts'
import { type Authorized, CONTENT_TYPE, type ToAuthorize } from '../provider.ts'

/** The signature of a request to Bedrock by the function's own role. Throws an UpstreamFailure. */
export function signAsRole(
  id: string,
  { baseUrl, region = '' }: OpenAiEntry | AnthropicEntry,
  { url: { host, pathname: path }, body }: ToAuthorize,
  clock: () => number = Date.now,
): Authorized {
  const service = signingName(baseUrl, region)
  // A catalog in DynamoDB may have been written past its check.
  if (!service) {
    const message = `The requests of provider '${id}' are signed, so they are sent to no address but Bedrock's own.`
    throw new UpstreamFailure('credential', message)
  }
  const credentials = credentialsFor(id)
  const own = { host, 'content-type': CONTENT_TYPE }
  const signing = { service, region, credentials, nowMs: clock() }
  const { host: _, 'content-type': __, ...headers } = signRequest(signing, { method: 'POST', path, headers: own, body })
  return { headers: Object.entries(headers).flat(), secret: credentials.sessionToken }
}

function credentialsFor(id: string): Credentials {
  try {
    return readCredentials()
  } catch (cause) {
    const message = `The requests of provider '${id}' cannot be signed. ${(cause as Error).message}`
    throw new UpstreamFailure('credential', message, {}, { cause })
  }
}
