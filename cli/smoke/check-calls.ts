import assert from 'node:assert/strict'
import type { AuditLine } from '../../layers/admin/api/shapes/books.ts'
import type { RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import type { Session } from '../commands/open-session.ts'
import { checkPieces } from './stage-checks.ts'

const HELLO = [{ role: 'user', content: 'Say hello.' }]
/** Long enough to be seen to stream. */
const COUNTING = [{ role: 'user', content: 'Count from 1 to 40, in words.' }]

export type Check = (what: string, work: () => unknown) => Promise<void>

type SmokeKey = { readonly id: string; readonly secret: string }

export function callerOf({ admin, chatUrl, apiUrl }: Session, { id: keyId, secret }: SmokeKey, model: string) {
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const get = (path: string) => fetch(`${apiUrl}${path}`, { headers })
  const post = (path: string, body: object) =>
    fetch(`${chatUrl}${path}`, { method: 'POST', headers, body: JSON.stringify({ model, ...body }) })
  const ask = (extra: object) => post('/v1/chat/completions', { max_tokens: 16, messages: HELLO, ...extra })
  return { admin, chatUrl, apiUrl, headers, keyId, model, get, post, ask }
}

export async function checkCalls(caller: ReturnType<typeof callerOf>, check: Check): Promise<void> {
  const { admin, chatUrl, apiUrl, headers, keyId, model, get, post, ask } = caller
  const read = async <T>(path: string) => json<T>(await get(path))
  const requestOf = (id: string) => admin.get<RequestShape>(`/requests/${id}`)
  await check('GET /v1/models lists the model', async () => {
    const { data } = await read<{ data: { id: string }[] }>('/v1/models')
    const isListed = data.some(({ id }) => id === model)
    assert(isListed, `${model} is not listed`)
  })
  await check('GET /v1/key/introspect knows the key', async () => {
    const seen = await json<{ id: string; status: string }>(await get('/v1/key/introspect'))
    assert(seen.id === keyId && seen.status === 'active', JSON.stringify(seen))
  })
  let requestId = ''
  let streamId = ''
  let seenMs = 0
  await check('a completion is answered, with every header', async () => {
    const response = await ask({})
    const answer = await json<{ choices: unknown[]; usage: { cost: number } }>(response)
    assert(answer.choices.length === 1, 'there is not one choice')
    assert(typeof answer.usage.cost === 'number', 'usage.cost is not a number')
    const ours = ['Provider', 'Cost'].map((name) => BRAND.headerPrefix + name)
    for (const name of ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', ...ours])
      assert(response.headers.has(name), `the header ${name} is missing`)
    requestId = response.headers.get('X-Request-Id') ?? ''
  })
  await check('its row is found by its request id, here and in the admin API', async () => {
    const seen = await json<{ request_id: string; outcome: string }>(await get(`/v1/usage/${requestId}`))
    assert(seen.outcome === 'completed', `its outcome is ${seen.outcome}`)
    assert((await requestOf(requestId)).key_id === keyId, 'the admin API has it for another key')
  })
  await check('its row is in the list of the key’s requests, and in their sums', async () => {
    const { data } = await read<{ data: { request_id: string }[] }>('/v1/usage')
    const isListed = data.some(({ request_id }) => request_id === requestId)
    assert(isListed, 'the row is not listed')
    const { total } = await read<{ total: { requests: number } }>('/v1/usage?group=model')
    assert(total.requests >= data.length, `there are ${data.length} rows, and the sum is ${total.requests}`)
  })
  await check('GET /v1/credits has the credits of the key', async () => {
    const { data } = await read<{ data: { total_credits: number } }>('/v1/credits')
    assert(data.total_credits === 1, JSON.stringify(data))
  })
  await check('POST /v1/quote tells what a completion holds', async () => {
    const body = { model, max_tokens: 16, messages: HELLO }
    const quote = { method: 'POST', headers, body: JSON.stringify({ endpoint: '/v1/chat/completions', body }) }
    const { hold } = await json<{ hold: string }>(await fetch(`${apiUrl}/v1/quote`, quote))
    assert(Number(hold) > 0 || hold === '0', `it would hold ${hold}`)
  })
  await check('a stream arrives as events, with its cost, and ends with [DONE]', async () => {
    const response = await ask({ stream: true, max_tokens: 100, messages: COUNTING })
    const { text, spreadMs } = await readPieces(response)
    streamId = response.headers.get('X-Request-Id') ?? ''
    seenMs = spreadMs
    assert(response.status === 200, `status ${response.status}: ${text}`)
    assert(response.headers.get('content-type')?.startsWith('text/event-stream') === true, 'it is not an event stream')
    assert(text.includes(`: ${BRAND.headerPrefix.toLowerCase()}cost `), 'the cost is missing')
    assert(text.endsWith('data: [DONE]\n\n'), 'it does not end with [DONE]')
  })
  await check('a stream comes piece by piece, as the model makes it', async () =>
    checkPieces((await requestOf(streamId)).row as never, seenMs),
  )
  await check('a response is answered', async () => {
    const answer = await post('/v1/responses', { max_output_tokens: 16, input: 'Say hello.' })
    const { status } = await json<{ status: string }>(answer)
    assert(status === 'completed' || status === 'incomplete', `its status is ${status}`)
  })
  await check('a message is answered', async () => {
    const { type } = await json<{ type: string }>(await post('/v1/messages', { max_tokens: 16, messages: HELLO }))
    assert(type === 'message', `its type is ${type}`)
  })
  await check('an unknown path and a wrong method have the same envelope', async () => {
    for (const [response, status] of [
      [await get('/v1/nothing'), 404],
      [await fetch(`${chatUrl}/v1/chat/completions`, { headers }), 405],
    ] as const) {
      const { error } = (await response.json()) as { error: Record<string, unknown> }
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

/** A body, and the time between its first event and its last piece. */
async function readPieces(response: Response): Promise<{ text: string; spreadMs: number }> {
  const decoder = new TextDecoder()
  let text = ''
  let firstMs: number | undefined
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (text.includes('data:')) firstMs ??= Date.now()
  }
  return { text, spreadMs: firstMs === undefined ? 0 : Date.now() - firstMs }
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text()
  assert(response.status === 200, `status ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}
