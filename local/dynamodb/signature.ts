import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { authorizer, basicIsoTime } from '../../layers/gateway/platform/aws/sign.ts'
import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { DynamoDbError } from './failures.ts'

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([\w-]{1,128})\/\d{8}\/([\w-]{1,64})\/dynamodb\/aws4_request, ?SignedHeaders=([a-z0-9;-]{1,1024}), ?Signature=[0-9a-f]{64}$/
const MUST_BE_SIGNED = ['host', 'x-amz-date', 'x-amz-target']
const MOST_SKEW_MS = 5 * 60_000

/** Checks AWS's Signature Version 4. Throws unless the head claims to be signed with the credentials in the last minutes. */
export function signatureChecker(credentials: Credentials) {
  /** For the region of the last request: all clients here use the same region. */
  let last: { readonly region: string; readonly authorize: ReturnType<typeof authorizer> } | undefined

  return (request: IncomingMessage) => {
    const { authorization = '' } = request.headers
    if (authorization === '') throw refused('MissingAuthenticationTokenException', 'The request is not signed')
    const [, keyId, region = '', signed = ''] = AUTHORIZATION.exec(authorization) ?? []
    if (keyId !== credentials.accessKeyId)
      throw refused('UnrecognizedClientException', 'The access key is not that of this database')
    const names = signed.split(';')
    if (!MUST_BE_SIGNED.every((name) => names.includes(name))) {
      throw refused('InvalidSignatureException', `${MUST_BE_SIGNED.join(', ')} must be signed`)
    }
    const [time, nowMs] = [String(request.headers['x-amz-date']), Date.now()]
    if (time < basicIsoTime(nowMs - MOST_SKEW_MS) || time > basicIsoTime(nowMs + MOST_SKEW_MS)) {
      throw refused('InvalidSignatureException', 'Signature expired: the clock is more than five minutes off')
    }
    const lines = names.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`)
    if (last?.region !== region) last = { region, authorize: authorizer(region, 'dynamodb') }
    const { authorize } = last
    return (body: Buffer) => {
      const asked = `POST\n/\n\n${lines.join('')}\n${signed}\n${hash('sha256', body)}`
      const expected = authorize({ request: asked, signed, time, credentials })
      if (!timingSafeEqual(Buffer.from(expected), Buffer.from(authorization.replaceAll(/, ?/g, ', ')))) {
        const why = 'The signature does not match: the secret key is not that of this database'
        throw refused('InvalidSignatureException', why)
      }
    }
  }
}

function refused(name: string, why: string): DynamoDbError {
  const where = 'Its credentials are in .waybill/local.json, for the owner of this machine only.'
  return new DynamoDbError(name, `${why}. ${where}`)
}
