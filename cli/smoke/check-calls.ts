import assert from 'node:assert/strict'
import type { AuditLine } from '../../layers/admin/api/shapes/books.ts'
import type { RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import type { Session } from '../commands/open-session.ts'
import { checkPieces } from './stage-checks.ts'
import { checkCompression, type Seen, send } from './wire.ts'

const HELLO = [{ role: 'user', content: 'Say hello.' }]
/** Long enough to be seen to stream. */
const STREAM = { stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'Count from 1 to 40, in words.' }] }

export type Check = (what: string, work: () => unknown) => Promise<void>

type SmokeKey = { readonly id: string; readonly secret: string }

export function callerOf({ admin, chatUrl, apiUrl }: Session, { id: keyId, secret }: SmokeKey, model: string) {
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const seen: Seen[] = []
  const call = async (...args: Parameters<typeof send>) => {
    const answer = await send(...args)
    seen.push(answer)
    return answer
  }
  const get = (path: string, url = apiUrl) => call(`${url}${path}`, { headers })
  const post = (path: string, body: object, more = {}, url = chatUrl) =>
    call(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const ask = (extra: object, more = {}) =>
    post('/v1/chat/completions', { model, max_tokens: 16, messages: HELLO, ...extra }, more)
  return { admin, chatUrl, apiUrl, keyId, model, seen, get, post, ask }
}

export async function checkCalls(caller: ReturnType<typeof callerOf>, check: Check): Promise<void> {
  const { admin, chatUrl, apiUrl, keyId, model, get, post, ask } = caller
  const read = async <T>(path: string) => json<T>(await get(path))
  const requestOf = (id: string) => admin.get<RequestShape>(`/requests/${id}`)
  await check('GET /v1/models lists the model', async () => {
    const { data } = await read<{ data: { id: string }[] }>('/v1/models')
    assert(data.map(({ id }) => id).includes(model), `${model} is not listed`)
  })
  await check('GET /v1/key/introspect knows the key', async () => {
    const seen = json<{ id: string; status: string }>(await get('/v1/key/introspect'))
    assert(seen.id === keyId && seen.status === 'active', JSON.stringify(seen))
  })
  let requestId = ''
  let stream: Seen | undefined
  await check('a completion is answered, with every header', async () => {
    const response = await ask({})
    const answer = json<{ choices: unknown[]; usage: { cost: number } }>(response)
    assert(answer.choices.length === 1, 'there is not one choice')
    assert(typeof answer.usage.cost === 'number', 'usage.cost is not a number')
    const ours = ['Provider', 'Cost'].map((name) => BRAND.headerPrefix + name)
    for (const name of ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', ...ours])
      assert(name.toLowerCase() in response.headers, `the header ${name} is missing`)
    requestId = idOf(response)
  })
  await check('its row is found by its request id, here and in the admin API', async () => {
    const seen = json<{ request_id: string; outcome: string }>(await get(`/v1/usage/${requestId}`))
    assert(seen.outcome === 'completed', `its outcome is ${seen.outcome}`)
    assert((await requestOf(requestId)).key_id === keyId, 'the admin API has it for another key')
  })
  await check('its row is in the list of the key’s requests, and in their sums', async () => {
    const { data } = await read<{ data: { request_id: string }[] }>('/v1/usage')
    assert(data.map((row) => row.request_id).includes(requestId), 'the row is not listed')
    const { total } = await read<{ total: { requests: number } }>('/v1/usage?group=model')
    assert(total.requests >= data.length, `there are ${data.length} rows, and the sum is ${total.requests}`)
  })
  await check('GET /v1/credits has the credits of the key', async () => {
    const { data } = await read<{ data: { total_credits: number } }>('/v1/credits')
    assert(data.total_credits === 1, JSON.stringify(data))
  })
  await check('POST /v1/quote tells what a completion holds', async () => {
    const body = { model, max_tokens: 16, messages: HELLO }
    const quote = await post('/v1/quote', { endpoint: '/v1/chat/completions', body }, {}, apiUrl)
    const { hold } = json<{ hold: string }>(quote)
    assert(Number(hold) > 0 || hold === '0', `it would hold ${hold}`)
  })
  await check('a stream arrives as events, with its cost, and ends with [DONE]', async () => {
    stream = await ask(STREAM)
    const text = textOf(stream)
    assert(stream.headers['content-type']?.startsWith('text/event-stream') === true, 'it is not an event stream')
    assert(text.includes(`: ${BRAND.headerPrefix.toLowerCase()}cost `), 'the cost is missing')
    assert(text.endsWith('data: [DONE]\n\n'), 'it does not end with [DONE]')
  })
  await check('a stream comes piece by piece, as the model makes it', async () =>
    checkPieces((await requestOf(stream ? idOf(stream) : '')).row as never, stream?.spreadMs ?? 0),
  )
  await check(`compression through ${chatUrl === apiUrl ? 'the public address' : 'the Function URL'}`, async () => {
    const packed = await ask(STREAM, { 'Accept-Encoding': 'gzip' })
    assert(packed.status === 200, `status ${packed.status} with Accept-Encoding: gzip. Set "compress": false`)
    return checkCompression(packed)
  })
  await check('a response is answered', async () => {
    const answer = await post('/v1/responses', { model, max_output_tokens: 16, input: 'Say hello.' })
    const { status } = json<{ status: string }>(answer)
    assert(status === 'completed' || status === 'incomplete', `its status is ${status}`)
  })
  await check('a message is answered', async () => {
    const { type } = json<{ type: string }>(await post('/v1/messages', { model, max_tokens: 16, messages: HELLO }))
    assert(type === 'message', `its type is ${type}`)
  })
  await check('an unknown path and a wrong method have the same envelope', async () => {
    for (const [response, status] of [
      [await get('/v1/nothing'), 404],
      [await get('/v1/chat/completions', chatUrl), 405],
    ] as const) {
      const { error } = JSON.parse(response.body.toString()) as { error: Record<string, unknown> }
      assert(response.status === status, `status ${response.status} in place of ${status}`)
      const isWhole = ['message', 'type', 'param', 'code'].every((field) => field in error)
      assert(isWhole, 'the envelope is not whole')
    }
  })
  await check('the books close', async () => {
    const [audit] = await Array.fromAsync(admin.lines<AuditLine>('/audits', { key_id: keyId }))
    assert(audit?.object === 'audit' && audit.ok, JSON.stringify(audit))
  })
}

const idOf = ({ headers }: Seen) => String(headers['x-request-id'])

function textOf({ status, body }: Seen): string {
  assert(status === 200, `status ${status}: ${body.toString().slice(0, 500)}`)
  return body.toString()
}

function json<T>(answer: Seen): T {
  return JSON.parse(textOf(answer)) as T
}
