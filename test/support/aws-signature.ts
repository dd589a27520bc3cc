import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Credentials } from '../../layers/gateway/platform/config.ts'

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+),/

/** In the form in which AWS's signer takes one. */
const { sha256 } = new DynamoDBClient({ region: 'us-east-1' }).config

export type Signed = {
  readonly service: string
  readonly region: string
  readonly headers: readonly string[]
  atMs: number
}

/** The scope and the headers of a request's signature, if AWS's own signer signs it the same with these credentials. */
export async function signatureOf(
  { method = '', url = '', headers }: IncomingMessage,
  body: Buffer,
  credentials: Credentials,
): Promise<Signed | undefined> {
  const bodyHash = hash('sha256', body)
  const { authorization = '', 'x-amz-date': time, 'x-amz-content-sha256': toldHash = bodyHash } = headers
  const [, region = '', service = '', names = ''] = AUTHORIZATION.exec(authorization) ?? []
  const signed = names.split(';')
  const atMs = timeOf(String(time))
  // The signer goes by the hash that it is told.
  if (!service || Number.isNaN(atMs) || toldHash !== bodyHash) return undefined
  const [path = '', query = ''] = url.split('?')
  const request = {
    method,
    protocol: 'https:',
    hostname: 'host',
    path,
    query: readQuery(query),
    body,
    headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
  }
  const signer = new SignatureV4({ service, region, credentials, sha256, applyChecksum: false })
  const right = await signer.sign(request, { signingDate: new Date(atMs), signableHeaders: new Set(signed) })
  const isRight = right.headers.authorization?.replaceAll(', ', ',') === authorization.replaceAll(', ', ',')
  return isRight ? { service, region, headers: signed, atMs } : undefined
}

/** A plus is a plus here, and no space. */
function readQuery(query: string): Record<string, string[]> {
  const pairs = query.split('&').filter(Boolean)
  const decoded = pairs.map((pair) => pair.split('=').map(decodeURIComponent) as [string, string?])
  const names = Map.groupBy(decoded, ([name]) => name)
  return Object.fromEntries([...names].map(([name, values]) => [name, values.map(([, value = '']) => value)]))
}

function timeOf(basic: string): number {
  return Date.parse(basic.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'))
}
