import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { keptHmac } from '../../layers/gateway/platform/aws/sign.ts'
import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { DynamoDbError } from './failures.ts'

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([\w-]{1,128})\/(\d{8})\/([\w-]{1,64})\/dynamodb\/aws4_request, ?SignedHeaders=([a-z0-9;-]{1,1024}), ?Signature=([0-9a-f]{64})$/
const MUST_BE_SIGNED = ['host', 'x-amz-date', 'x-amz-target']
const MOST_SKEW_MS = 5 * 60_000

export type CheckBody = (body: Buffer) => void

/** Checks AWS's Signature Version 4. Throws unless the head claims to be signed with the credentials in the last minutes. */
export function signatureChecker({ accessKeyId, secretAccessKey }: Credentials) {
  /** The HMAC for the region of the last request: all clients here use the same region. */
  let last: { readonly region: string; readonly hmacOf: ReturnType<typeof keptHmac> } | undefined

  return (request: IncomingMessage): CheckBody => {
    const { authorization = '' } = request.headers
    if (authorization === '') throw refused('MissingAuthenticationTokenException', 'The request is not signed')
    const [, keyId, day = '', region = '', names = '', signature = ''] = AUTHORIZATION.exec(authorization) ?? []
    if (keyId !== accessKeyId)
      throw refused('UnrecognizedClientException', 'The access key is not that of this database')
    const signed = names.split(';')
    if (!MUST_BE_SIGNED.every((name) => signed.includes(name))) {
      throw refused('InvalidSignatureException', `${MUST_BE_SIGNED.join(', ')} must be signed`)
    }
    const time = String(request.headers['x-amz-date'])
    if (time.slice(0, 8) !== day || !(Math.abs(momentOf(time) - Date.now()) <= MOST_SKEW_MS)) {
      throw refused('InvalidSignatureException', 'Signature expired: the clock is more than five minutes off')
    }
    const lines = signed.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`)
    return (body) => {
      const asked = `POST\n/\n\n${lines.join('')}\n${names}\n${hash('sha256', body)}`
      const toSign = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/dynamodb/aws4_request\n${hash('sha256', asked)}`
      const expected = hmacFor(region)(day, secretAccessKey)(toSign)
      if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) {
        const why = 'The signature does not match: the secret key is not that of this database'
        throw refused('InvalidSignatureException', why)
      }
    }
  }

  function hmacFor(region: string): ReturnType<typeof keptHmac> {
    if (last?.region !== region) last = { region, hmacOf: keptHmac(region, 'dynamodb') }
    return last.hmacOf
  }
}

/** 20261115T120000Z */
function momentOf(time: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

function refused(name: string, why: string): DynamoDbError {
  const where = 'Its credentials are in .waybill/local.json, for the owner of this machine only.'
  return new DynamoDbError(name, `${why}. ${where}`)
}
