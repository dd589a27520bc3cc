import { createAdmin } from '../../../functions/admin/create.ts'
import { signedCaller } from '../../../functions/admin/identify.ts'
import { stageKeys } from '../../../functions/admin/stage-keys.ts'
import { ACT_MS } from '../../../layers/gateway/domain/keys/act.ts'
import { ADMIN_PATHS } from '../../../layers/gateway/endpoints.ts'
import { jsonLog } from '../../../layers/gateway/platform/log/log.ts'
import type { Tables } from '../../../layers/gateway/store/dynamodb/database.ts'

export const ARN = 'arn:aws:sts::123456789012:assumed-role/Operators/ann'
/** The address from which admin keys of tests may be used. */
export const OFFICE = '203.0.113.7'

type Sent = {
  readonly secret?: string
  readonly body?: unknown
  readonly isBase64?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly sourceIp?: string
  /** The caller's ARN, as AWS reports it. */
  readonly iam?: string
  /** The time that Lambda gives. */
  readonly remainingMs?: number
}

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its test expects.
type Told = { status: number; headers: Readonly<Record<string, string>>; text: string; body: any }

export type AdminFunction = {
  /** `POST /keys`, signed. */
  signed(route: string, sent?: Sent): Promise<Told>
  /** `POST /keys`, on the path for admin keys. */
  keyed(route: string, sent?: Sent): Promise<Told>
  /** `GET /admin/v1/keys`, as if no authorizer were there. */
  unsigned(route: string, sent?: Sent): Promise<Told>
  readonly logged: string[]
}

type Options = Pick<Parameters<typeof createAdmin>[0], 'echoUrl'> & {
  readonly clock?: () => number
  readonly takesKeys?: boolean
  readonly actMs?: number
  readonly stage?: string
  readonly baseUrl?: string
  readonly isProtected?: boolean
}

/** The deployed admin API over tables, called as API Gateway calls it. */
export function adminFunction(
  tables: Tables,
  { clock = Date.now, takesKeys = true, actMs = ACT_MS, stage = 'prod', isProtected = true, ...more }: Options = {},
): AdminFunction {
  const { baseUrl = 'https://gateway.example', ...options } = more
  const logged: string[] = []
  const handler = createAdmin({
    ...options,
    tables,
    stage,
    settings: { baseUrl: `${baseUrl}/v1`, isProtected, takesKeys, tellsNotices: true },
    apiKeys: stageKeys(stage),
    identify: signedCaller,
    clock,
    actMs,
    log: jsonLog((line) => logged.push(line), stage, clock),
  })
  const call = async (route: string, sent: Sent): Promise<Told> => {
    const { remainingMs = 29_000 } = sent
    const answer = await handler(adminEvent(route, sent), { getRemainingTimeInMillis: () => remainingMs })
    const isJson = answer.headers['Content-Type'] === 'application/json'
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      body: isJson ? JSON.parse(answer.body) : undefined,
    }
  }
  const under = (root: string, route: string) => route.replace(' ', ` ${root}`)
  return {
    logged,
    signed: (route, sent = {}) => call(under(ADMIN_PATHS.signed, route), { iam: ARN, ...sent }),
    keyed: (route, sent = {}) => call(under(ADMIN_PATHS.keyed, route), sent),
    unsigned: (route, sent = {}) => call(route, sent),
  }
}

/** The event of an HTTP API: payload format 2.0. */
export function adminEvent(
  route: string,
  { secret, body, isBase64 = false, headers, sourceIp = OFFICE, iam }: Sent = {},
) {
  const [method = '', address = ''] = route.split(' ')
  const [rawPath = '', rawQueryString = ''] = address.split('?')
  const text =
    body === undefined || method === 'GET' ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return {
    version: '2.0',
    rawPath,
    rawQueryString,
    headers: {
      host: 'abc123.execute-api.us-east-1.amazonaws.com',
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...headers,
    },
    ...(text !== undefined && { body: isBase64 ? Buffer.from(text).toString('base64') : text }),
    isBase64Encoded: isBase64,
    requestContext: {
      accountId: '123456789012',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp, userAgent: 'test/1.0' },
      ...(iam !== undefined && {
        authorizer: { iam: { accountId: '123456789012', userArn: iam, userId: 'AROA:ann', cognitoIdentity: null } },
      }),
      stage: '$default',
    },
  }
}

let made = 0

export function once(): Record<string, string> {
  return { 'idempotency-key': `admin-${process.pid}-${made++}` }
}
