import { readAwsEndpoint, readCredentials } from '../config.ts'
import { retry } from '../retry.ts'
import { endpointOf } from './service.ts'
import { isUnavailable, ServiceError } from './service-error.ts'
import { signRequest } from './sign-request.ts'

/** Puts bytes at a path of a bucket. The same bytes again change nothing. Throws a ServiceError. */
export type PutObject = (path: string, bytes: Uint8Array) => Promise<void>

const ATTEMPTS = 4
const TIMEOUT_MS = 60_000

/** A bucket of S3. `fetch` is enough: no request waits for it, and it carries bytes. */
export function openBucket(bucket: string, clock: () => number = Date.now): PutObject {
  return (path, bytes) =>
    retry(() => put(path, bytes), { when: isTransient, pauseMs: (attempt) => 200 * 2 ** attempt, tries: ATTEMPTS })

  async function put(path: string, bytes: Uint8Array): Promise<void> {
    const { region, endpoint = endpointOf('s3', region) } = readAwsEndpoint('S3')
    const url = new URL(`/${bucket}/${path}`, endpoint)
    // S3 also checks that all of the body came, by its hash, which is signed.
    const headers = signRequest(
      { service: 's3', region, credentials: readCredentials(), nowMs: clock() },
      { method: 'PUT', path: url.pathname, headers: { host: url.host }, body: bytes },
    )
    const reply = await fetch(url, {
      method: 'PUT',
      headers,
      body: bytes as Uint8Array<ArrayBuffer>,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause) => {
      throw new ServiceError('NetworkingError', `${url.host}: ${(cause as Error).message}`, {}, { cause })
    })
    const answer = await reply.text().catch(() => '')
    if (reply.ok) return
    const [, name = 'UnknownError'] = /<Code>(\w+)<\/Code>/.exec(answer) ?? []
    throw new ServiceError(name, `S3 answered ${reply.status} to ${path}.`, { isServers: reply.status >= 500 })
  }
}

/** S3 answers 400 to a body that came too slowly: it waited, and took nothing. */
function isTransient(error: unknown): boolean {
  return isUnavailable(error) || (error as Error).name === 'RequestTimeout'
}
