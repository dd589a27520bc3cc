import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { GUARD_HEADERS } from '../../../cli/console/guard.ts'
import { buildConsole } from '../../../console/build.ts'
import type { AccountDetail } from '../../../layers/admin/api/shapes/accounts.ts'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { CreateKeyBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { asksModel } from '../../../layers/gateway/endpoints.ts'
import { listen } from '../../support/listen.ts'
import * as samples from './samples.ts'

const LAUNCH = 'launch-token'
const TOKEN = 'session-token'

export type Asked = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type ScriptedConsole = {
  /** With the launch token in its fragment. */
  readonly address: string
  readonly origin: string
  readonly keys: KeyDetail[]
  readonly accounts: AccountDetail[]
  /** The newest first. */
  readonly lines: RequestLine[]
  readonly asked: Asked[]
  /** The next change is done, and its answer is lost. */
  loseNextAnswer: boolean
  /** True if the stage asks before every change. */
  isProtected: boolean
  /** As if another operator had changed this key in between. */
  changeByAnother(id: string, changes: Partial<KeyDetail>): void
  readonly close: () => Promise<void>
}

type Answer = { readonly status: number; readonly body: unknown }

export type Size = { readonly keys: number; readonly requests: number }

/** The page's files, and an admin API in memory: no gateway is behind it. */
export async function startScriptedConsole(size: Size): Promise<ScriptedConsole> {
  const files = await buildConsole()
  const done = new Map<string, KeyDetail>()
  const server = createServer((request, response) => void answer(request, response))
  const { url: origin, ...served } = await listen(server)

  const scripted: ScriptedConsole = {
    origin,
    address: `${origin}/#launch=${LAUNCH}`,
    keys: samples.sampleKeys(size.keys),
    accounts: [samples.sampleAccount()],
    lines: samples.sampleLines(size.requests),
    asked: [],
    loseNextAnswer: false,
    isProtected: false,
    changeByAnother(id, changes) {
      const i = scripted.keys.findIndex((key) => key.id === id)
      const key = scripted.keys[i] ?? samples.sampleKey(0)
      scripted.keys[i] = { ...key, ...changes, version: key.version + 1 }
    },
    close: async () => served[Symbol.asyncDispose](),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request
    const asked: Asked = { method, url, headers, body: await text(request) }
    scripted.asked.push(asked)
    const file = files.find(({ path }) => path === url)
    if (file) {
      response.writeHead(200, { ...GUARD_HEADERS, 'Content-Type': file.type }).end(file.body)
      return
    }
    if (url === '/console/playground/chat/completions') return stream(response)
    const { status, body } = answerTo(asked)
    if (scripted.loseNextAnswer && method !== 'GET') {
      scripted.loseNextAnswer = false
      // In its middle: Chromium itself asks again where nothing at all came.
      response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '1000' })
      response.write('{', () => response.destroy())
      return
    }
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req_admin' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  function answerTo(asked: Asked): Answer {
    const { pathname, searchParams } = new URL(asked.url, origin)
    if (pathname === '/console/session') {
      const isOurs = JSON.parse(asked.body).launch === LAUNCH
      return isOurs ? ok({ token: TOKEN }) : refusal(401, 'This address was used before.')
    }
    if (asked.headers['x-waybill-console'] !== TOKEN)
      return refusal(401, 'There is no such token.', 'invalid_console_token')
    const path = pathname.replace('/admin/v1', '').split('/').slice(1)
    const [name] = path
    if (name === 'keys' && path.length === 1 && asked.method === 'POST') return createKey(asked)
    if (name === 'keys') return answerDetails(scripted.keys, asked, path.slice(1), searchParams)
    if (name === 'accounts') return answerDetails(scripted.accounts, asked, path.slice(1), searchParams)
    return answerRest(path, searchParams, asked)
  }

  function answerDetails<Of extends KeyDetail | AccountDetail>(
    all: Of[],
    asked: Asked,
    [id, part]: string[],
    query: URLSearchParams,
  ): Answer {
    if (id === undefined) return ok(pageOf(all.filter(isAskedFor(query, ['status'])), query))
    const i = all.findIndex((key) => key.id === id)
    const key = all[i]
    if (!key) return refusal(404, 'There is no such key.')
    const change = (changes: object) => {
      const now = { ...key, ...changes, version: key.version + 1 }
      all[i] = now
      return ok({ ...now, secret: null, replayed: false })
    }
    const own = samples.sampleEvents.filter(({ key_id }) => key_id === id)
    if (part === 'statements') return ok(samples.sampleStatement)
    if (part === 'events') return ok(pageOf(own, query))
    if (part === 'grants' && asked.method === 'POST' && key.status === 'suspended')
      return refusal(409, 'The key is suspended.')
    if (part === 'grants' && /"credits":"77"/.test(asked.body) && asked.headers.prefer === 'handling=strict')
      return refusal(
        409,
        '77 credits were granted at noon by ana, and this is the same again.',
        'needs_confirmation',
        'credits',
      )
    if (part === 'grants' && /"reference":"INV-1"(?!.*again)/.test(asked.body))
      return refusal(409, 'The key was granted credits under this reference.', 'reference_used')
    if (part === 'grants')
      return ok(asked.method === 'POST' ? samples.sampleGrant : pageOf([samples.sampleGrant], query))
    if (part === 'rotate') return change({ last_four: JSON.parse(asked.body).last_four })
    if (part !== undefined && part in ACTS) return change(ACTS[part] ?? {})
    if (asked.method !== 'PATCH') return ok(key)
    if (asked.headers['if-match'] !== `"${key.version}"`) return refusal(412, 'The key was changed meanwhile.')
    return change(JSON.parse(asked.body))
  }

  function createKey({ headers, body }: Asked): Answer {
    const idempotencyKey = String(headers['idempotency-key'])
    const { secret_sha256: _, credits = '0', ...settings } = JSON.parse(body) as CreateKeyBody
    const before = done.get(idempotencyKey)
    if (!before && scripted.keys.some((key) => key.external_id && key.external_id === settings.external_id)) {
      return refusal(409, 'Another key has this external id.')
    }
    const key =
      before ??
      samples.sampleKey(1000 + scripted.keys.length, {
        ...(settings as Partial<KeyDetail>),
        calls_today: 0,
        granted: credits,
        available: credits,
      })
    if (!before) scripted.keys.unshift(key)
    done.set(idempotencyKey, key)
    return { status: 201, body: { ...key, secret: null, replayed: before !== undefined } }
  }

  function answerRest([name, id, ...rest]: string[], query: URLSearchParams, { body }: Asked): Answer {
    switch (name) {
      case 'whoami':
        return ok({
          object: 'identity',
          by: 'local:ana',
          stage: 'local',
          protected: scripted.isProtected,
          scopes: [],
          base_url: 'http://127.0.0.1:8787/v1',
          address: '127.0.0.1',
        })
      case 'overview':
        return ok(samples.sampleOverview)
      case 'requests':
        if (id === samples.OPEN_REQUEST_ID) return ok(samples.openRequest)
        if (id === samples.FAILED_REQUEST_ID) return ok(samples.failedRequest)
        return ok(
          id === undefined
            ? pageOf(scripted.lines.filter(isAskedFor(query, LINE_FILTERS)).filter(isListed(query)), query)
            : samples.sampleRequest,
        )
      case 'usage': {
        const groupBy = query.get('group_by') as UsagePage['group_by']
        return ok(
          samples.sampleUsage(groupBy, groupBy === 'key' ? scripted.keys.length : 3, query.get('bucket') ?? undefined),
        )
      }
      case 'plans':
        return ok(list([samples.samplePlan]))
      case 'notices':
        return ok(pageOf([samples.sampleNotice], query))
      case 'events':
        return ok(pageOf(samples.sampleEvents, query))
      case 'routes':
        return ok(id === 'test' ? list(samples.sampleRoutes.map(samples.sampleTest)) : list(samples.sampleRoutes))
      case 'catalog':
        if (id === 'check') return ok(body.includes('"-3"') ? samples.faultyCheck : samples.sampleCheck)
        if (id !== 'versions') return ok(samples.sampleCatalog)
        if (rest[1] === 'restore') return ok({ ...samples.sampleCatalog, version: 8 })
        return ok(rest.length === 0 ? list(samples.sampleVersions) : { ...samples.sampleCatalog, version: 6 })
      case 'audits':
        return { status: 200, body: samples.sampleAudit.map((line) => `${JSON.stringify(line)}\n`).join('') }
      case 'search': {
        const text = query.get('q') ?? ''
        const found = scripted.keys.filter((key) => key.name.includes(text) || key.last_four === text).slice(0, 20)
        return ok({
          object: 'search',
          keys: found,
          accounts: scripted.accounts.filter(({ name }) => name.includes(text)),
          request_id: text === samples.REQUEST_ID ? text : null,
        })
      }
      default:
        return refusal(404, 'There is no such path.')
    }
  }
  return scripted
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Request-Id': samples.REQUEST_ID })
  const send = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`)
  for (const content of ['Hello ', 'from ', 'here']) send({ choices: [{ delta: { content } }] })
  send({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } })
  response.end(': x-svc-cost 0.0000021\n\ndata: [DONE]\n\n')
}

const ACTS: Readonly<Record<string, object>> = {
  'end-grace': { previous: null },
  suspend: { status: 'suspended' },
  resume: { status: 'active' },
  revoke: { status: 'revoked' },
  close: { status: 'closed' },
}

const ok = (body: unknown): Answer => ({ status: 200, body })

function refusal(status: number, message: string, code: string | null = null, param: string | null = null): Answer {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } }
}

const LINE_FILTERS = ['key_id', 'model', 'outcome', 'provider', 'error_code', 'endpoint'] as const

const isListed = (query: URLSearchParams) => (line: RequestLine) =>
  query.has('calls') || query.has('endpoint') || asksModel(line.endpoint)

function isAskedFor<Name extends string>(query: URLSearchParams, names: readonly Name[]) {
  return (one: { readonly [key in Name]: unknown }) =>
    names.every((name) => !query.has(name) || one[name] === query.get(name))
}

function list<T>(data: readonly T[]): List<T> {
  return { object: 'list', data, has_more: false, last_id: null }
}

function pageOf<T>(all: readonly T[], query: URLSearchParams): List<T> {
  const [from, limit] = [Number(query.get('after') ?? 0), Number(query.get('limit') ?? 20)]
  const next = from + limit
  return { object: 'list', data: all.slice(from, next), has_more: next < all.length, last_id: String(next) }
}
