import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { byAws } from '../../cli/admin-client/http-client.ts'
import type { Connection } from '../../cli/connect/connect.ts'
import { type AdminKey, type AdminKeySettings, newAdminKey } from '../../layers/gateway/domain/keys/admin-key.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { createAdminKey } from '../../layers/gateway/store/admin-keys/admin-keys.ts'

import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { adminFunction } from '../functions/support/admin-function.ts'

import { actAt } from './act.ts'
import { signatureOf } from './aws-signature.ts'
import { listen } from './listen.ts'

/** The identity behind the credentials of a stage's commands. */
export const CALLER = 'arn:aws:iam::123456789012:user/ann'
/** The credentials whose signatures are accepted; a stage's commands have them, too. */
export const SIGNER = { accessKeyId: 'test', secretAccessKey: 'test' }
export const SIGNED_REGION = 'us-east-1'

export type Asked = {
  readonly method: string
  /** With the query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly isSigned: boolean
}

type Instead = (request: IncomingMessage, response: ServerResponse) => void

/** The deployed admin function behind its HTTP API, as far as its callers can tell: with IAM on one path, and admin keys on the other. */
export type SignedAdmin = AsyncDisposable & {
  /** The output AdminUrl. */
  readonly url: string
  readonly asked: Asked[]
  readonly logged: string[]
  /** The rights of the caller's policies: everything by default. */
  allows: (method: string, path: string) => boolean
  /** Answers in place of the function, signature or not. */
  instead: Instead | undefined
  /** How many of the next answers are lost after the function has done its work. */
  lost: number
  /** The token of the caller's session, if it has one. */
  sessionToken: string | undefined
}

const FORBIDDEN = { message: 'Forbidden' }

type Options = Parameters<typeof adminFunction>[1] & { readonly caller?: string }

export async function startSignedAdmin(
  tables: Tables,
  baseUrl: string,
  { caller = CALLER, ...more }: Options = {},
): Promise<SignedAdmin> {
  const deployed = adminFunction(tables, { stage: 'dev', isProtected: false, baseUrl, ...more })
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await buffer(request)
    const isSigned = await isSignedBySigner(request, body, admin.sessionToken)
    admin.asked.push({ method, url, headers, body: body.toString(), isSigned })
    if (admin.instead) return admin.instead(request, response)
    const [path = ''] = url.split('?')
    const isKeyed = path.startsWith('/keyed/')
    if (!isKeyed && !(isSigned && admin.allows(method, path))) return sendJson(response, 403, FORBIDDEN)
    const answer = await deployed.unsigned(`${method} ${url}`, {
      ...(body.length > 0 && { body: body.toString() }),
      headers: headers as Record<string, string>,
      sourceIp: '127.0.0.1',
      ...(isSigned && { iam: caller }),
    })
    if (admin.lost > 0) {
      admin.lost -= 1
      return void response.destroy()
    }
    response.writeHead(answer.status, answer.headers).end(answer.text)
  })
  const admin: SignedAdmin = {
    ...(await listen(server)),
    asked: [],
    logged: deployed.logged,
    allows: () => true,
    instead: undefined,
    lost: 0,
    sessionToken: undefined,
  }
  return admin
}

/** The gateway as an operator's console reaches it, with the credentials that sign. */
export function connectionTo({ url }: Pick<SignedAdmin, 'url'>, gatewayUrl: string): Connection {
  return {
    stage: 'dev',
    isProtected: false,
    ipv6: false,
    chatUrl: gatewayUrl,
    apiUrl: gatewayUrl,
    adminUrl: url,
    signIn: byAws({ credentials: SIGNER, region: SIGNED_REGION }),
  }
}

/** The secret of a new admin key, which works on this machine. */
export async function makeAdminKey(tables: Tables, more?: Partial<AdminKeySettings>): Promise<string> {
  return (await issueAdminKey(tables, more)).secret
}

export async function issueAdminKey(
  tables: Tables,
  more: Partial<AdminKeySettings> = {},
): Promise<{ key: AdminKey; secret: string }> {
  const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
  const settings = { name: 'test', scopes: ADMIN_SCOPES, allowlist: ['127.0.0.1/32'], dailyGrant: 10n ** 15n, ...more }
  const key = newAdminKey({ settings, stored }, Date.now(), randomBytes(10))
  await createAdminKey(tables)(key, actAt())
  return { key, secret }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

const MOST_SKEW_MS = 5 * 60_000

async function isSignedBySigner(request: IncomingMessage, body: Buffer, sessionToken: string | undefined) {
  const signed = await signatureOf(request, body, { ...SIGNER, ...(sessionToken && { sessionToken }) })
  const needed = ['host', 'x-amz-date', ...(sessionToken ? ['x-amz-security-token'] : [])]
  return (
    signed?.service === 'execute-api' &&
    signed.region === SIGNED_REGION &&
    Math.abs(signed.atMs - Date.now()) < MOST_SKEW_MS &&
    needed.every((name) => signed.headers.includes(name)) &&
    request.headers['x-amz-security-token'] === sessionToken
  )
}
