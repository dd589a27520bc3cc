import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export const ACCESS = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'a-secret-of-this-test' }

export type Reply = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string }

/** By `METHOD /path`, or by the action and its stack; with the service and region behind it, for that place only. */
export type Replies = Readonly<Record<string, Reply>>

export type Asked = { readonly name: string; readonly body: Buffer }

/** AWS as far as we and `cdk` ask: answers only what is signed as AWS demands. */
export type AwsAccount = {
  readonly env: Record<string, string>
  /** The calls that were made, with the service and region that they were signed for. */
  readonly asked: string[]
  replies: Replies
  /** The reply to a call that has none there. */
  otherwise: (asked: Asked) => Reply | undefined
  stop(): Promise<unknown>
}

const SERVICES = [
  'STS',
  'LAMBDA',
  'CLOUDFRONT',
  'BEDROCK',
  'CLOUDFORMATION',
  'DYNAMODB',
  'ORGANIZATIONS',
  'SECRETS_MANAGER',
  'S3',
  'SSM',
]

export async function startAwsAccount(): Promise<AwsAccount> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const name = nameOf(request, body.toString())
    const scope = scopeOf(request, body)
    account.asked.push(`${name} ${scope}`)
    const refused: Reply = {
      status: 403,
      body: '<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>',
    }
    const known = account.replies[`${name} ${scope}`] ?? account.replies[name]
    const reply = scope ? (known ?? account.otherwise({ name, body })) : refused
    response.writeHead(reply?.status ?? (reply ? 200 : 404), reply?.headers).end(reply?.body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const account: AwsAccount = {
    env: {
      ...ACCESS,
      ...Object.fromEntries(SERVICES.map((service) => [`AWS_ENDPOINT_URL_${service}`, endpoint])),
      AWS_REGION: 'eu-west-1',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    asked: [],
    replies: {},
    otherwise: () => undefined,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
  return account
}

function nameOf({ method, url, headers }: IncomingMessage, body: string): string {
  const form = new URLSearchParams(body)
  const [action, stack, target] = [form.get('Action'), form.get('StackName'), headers['x-amz-target']]
  if (action) return stack ? `${action} ${stack}` : action
  return target ? String(target).replace(/^.*\./, '') : `${method} ${url}`
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=AKIATEST\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/

/** `service/region` if the signature is right by AWS's Signature Version 4; nothing if not. */
function scopeOf({ method, url = '', headers }: IncomingMessage, body: Buffer): string {
  const [, day = '', region = '', service = '', signed = '', signature] =
    AUTHORIZATION.exec(headers.authorization ?? '') ?? []
  const { pathname, searchParams } = new URL(url, 'http://host')
  // Every service but S3 signs a path that is encoded once more than the one that is sent.
  const path = pathname.split('/').map(encodeURIComponent).join('/')
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`)
  const request = [method, path, searchParams.toString(), lines.join(''), signed, sha256(body)].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(request)].join('\n')
  const first = Buffer.from(`AWS4${ACCESS.AWS_SECRET_ACCESS_KEY}`)
  const key = scope.split('/').reduce((last, part) => createHmac('sha256', last).update(part).digest(), first)
  return createHmac('sha256', key).update(toSign).digest('hex') === signature ? `${service}/${region}` : ''
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
