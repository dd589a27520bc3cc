import { hash } from 'node:crypto'
import { type Credentials, readAwsEndpoint, readCredentials } from '../config.ts'
import { retry } from '../retry.ts'
import { endpointOf } from './endpoint.ts'
import { isUnavailable } from './failures.ts'
import { ServiceError } from './service-error.ts'
import { authorizer, basicIsoTime } from './sign.ts'

/** Puts bytes at a path of a bucket. The same bytes again change nothing. Throws a ServiceError. */
export type PutObject = (path: string, bytes: Uint8Array) => Promise<void>

const ATTEMPTS = 4
const TIMEOUT_MS = 60_000

/** A bucket of S3. `fetch` is enough: no request waits for it, and it carries bytes. */
export function openBucket(bucket: string, clock: () => number = Date.now): PutObject {
  let s3: { readonly origin: string; readonly sign: ReturnType<typeof putSigner> } | undefined

  return (path, bytes) =>
    retry(() => put(path, bytes), { when: isTransient, pauseMs: (attempt) => 200 * 2 ** attempt, tries: ATTEMPTS })

  async function put(path: string, bytes: Uint8Array): Promise<void> {
    s3 ??= openS3()
    const url = new URL(`/${bucket}/${path}`, s3.origin)
    const headers = s3.sign({
      host: url.host,
      path: encodePath(url.pathname),
      bytes,
      credentials: readCredentials(),
      nowMs: clock(),
    })
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

function openS3() {
  const { region, endpoint = endpointOf('s3', region) } = readAwsEndpoint('S3')
  return { origin: endpoint, sign: putSigner(region) }
}

/** S3 wants every character but these percent-encoded; `=` is one that URLs leave unencoded. */
function encodePath(path: string): string {
  return path.replaceAll('=', '%3D')
}

type ToSign = {
  readonly host: string
  /** Encoded as S3 demands. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly credentials: Credentials
  readonly nowMs: number
}

/** Signs a PUT by AWS's Signature Version 4 with the hash of its body, by which S3 also checks that all of it came. */
function putSigner(region: string): (put: ToSign) => Record<string, string> {
  const authorize = authorizer(region, 's3')
  return ({ host, path, bytes, credentials, nowMs }) => {
    const { sessionToken } = credentials
    const time = basicIsoTime(nowMs)
    const headers: Record<string, string> = {
      host,
      'x-amz-content-sha256': hash('sha256', bytes),
      'x-amz-date': time,
      ...(sessionToken && { 'x-amz-security-token': sessionToken }),
    }
    const signed = Object.keys(headers).join(';')
    const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`)
    const request = `PUT\n${path}\n\n${lines.join('')}\n${signed}\n${headers['x-amz-content-sha256']}`
    const { host: _, ...sent } = headers
    return { ...sent, authorization: authorize({ request, signed, time, credentials }) }
  }
}
