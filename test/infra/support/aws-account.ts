import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { beforeEach } from '@jest/globals'
import { signatureOf } from '../../support/aws-signature.ts'
import { listen } from '../../support/listen.ts'
import { closeAfterwards } from '../../support/stack.ts'

export const ACCESS = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'a-secret-of-this-test' }

export type Reply = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string }

/** The names are `METHOD /path`, or the action and its stack; with the service and region behind it, for that place only. */
export type Replies = Readonly<Record<string, Reply>>

export const json = (value: unknown, more: Partial<Reply> = {}): Reply => ({ body: JSON.stringify(value), ...more })

/** The answer of a query to STS or CloudFormation. */
export const told = (action: string, result: string): Reply => ({
  body: `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`,
})

const ACCOUNT = '123456789012'
const CALLER = `arn:aws:iam::${ACCOUNT}:user/ada`
export const IDENTITY = told('GetCallerIdentity', `<Arn>${CALLER}</Arn><Account>${ACCOUNT}</Account>`)
/** As our commands tell it. */
export const WHO = `account ${ACCOUNT}, as ${CALLER}`

export function stack(StackStatus: string, outputs: Readonly<Record<string, string>> = {}, tags: string[] = []): Reply {
  const named = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  const tagged = tags.map((key) => `<member><Key>${key}</Key><Value>true</Value></member>`)
  return told(
    'DescribeStacks',
    `<Stacks><member><StackName>x</StackName><CreationTime>2026-11-15T00:00:00Z</CreationTime>
<StackStatus>${StackStatus}</StackStatus><Outputs>${named.join('')}</Outputs><Tags>${tagged.join('')}</Tags></member></Stacks>`,
  )
}

export const toolkit = (version: string, status = 'CREATE_COMPLETE') => stack(status, { BootstrapVersion: version })

export const refused = (code: string, status = 403, message = 'no'): Reply => ({
  status,
  body: `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
})

/** In the words by which `cdk` knows it. */
export const noStack = (name: string) => refused('ValidationError', 400, `Stack with id ${name} does not exist`)

export type Asked = { readonly name: string; readonly body: Buffer }

/** AWS as far as we and `cdk` ask: answers only what is signed as AWS demands. */
export type AwsAccount = AsyncDisposable & {
  readonly env: Record<string, string>
  /** The calls that were made, with the service and region that they were signed for. */
  readonly asked: string[]
  replies: Replies
  /** The reply to a call that has none there. */
  otherwise: (asked: Asked) => Reply | undefined
}

const SERVICES = [
  ...['STS', 'LAMBDA', 'CLOUDFRONT', 'BEDROCK', 'CLOUDFORMATION', 'DYNAMODB', 'ORGANIZATIONS', 'S3', 'SSM'],
]

export async function startAwsAccount(): Promise<AwsAccount> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const name = nameOf(request, body.toString())
    const scope = await scopeOf(request, body)
    account.asked.push(`${name} ${scope}`)
    const known = account.replies[`${name} ${scope}`] ?? account.replies[name]
    const reply = scope ? (known ?? account.otherwise({ name, body })) : refused('SignatureDoesNotMatch')
    response.writeHead(reply?.status ?? (reply ? 200 : 404), reply?.headers).end(reply?.body ?? '')
  })
  const { url: endpoint, ...served } = await listen(server)
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
    ...served,
  }
  return account
}

/** The account of a file's tests, each of which begins without a call. */
export async function accountOfTests(): Promise<AwsAccount> {
  const account = closeAfterwards(await startAwsAccount())
  beforeEach(() => {
    account.asked.length = 0
  })
  return account
}

function nameOf({ method, url = '', headers }: IncomingMessage, body: string): string {
  const form = new URLSearchParams(method === 'GET' ? new URL(url, 'http://host').search : body)
  const [action, stack, target] = [form.get('Action'), form.get('StackName'), headers['x-amz-target']]
  if (action) return stack ? `${action} ${stack}` : action
  return target ? String(target).replace(/^.*\./, '') : `${method} ${url}`
}

const KEYS = { accessKeyId: ACCESS.AWS_ACCESS_KEY_ID, secretAccessKey: ACCESS.AWS_SECRET_ACCESS_KEY }

/** `service/region` if the signature is right; nothing if not. */
async function scopeOf(request: IncomingMessage, body: Buffer): Promise<string> {
  const signed = await signatureOf(request, body, KEYS)
  return signed ? `${signed.service}/${signed.region}` : ''
}
