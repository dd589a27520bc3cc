import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { EXAMPLES } from '../../cli/schemas/openapi/examples.ts'
import type { PublicPath } from '../../cli/schemas/openapi/operations.ts'
import { publicOpenApi } from '../../cli/schemas/openapi/public-openapi.ts'
import { COMPLETION_FIELDS } from '../../layers/gateway/contracts/completions/completion-request.ts'
import { EMBEDDING_FIELDS } from '../../layers/gateway/contracts/embeddings/embeddings.ts'
import { MESSAGES_FIELDS } from '../../layers/gateway/contracts/messages/messages-fields.ts'
import { OWN_WORDS } from '../../layers/gateway/contracts/responses/own-words.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/contracts/responses/responses-fields.ts'
import { HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import { CHAT_FIELDS } from '../../layers/gateway/wire/chat/chat-fields.ts'
import { startEcho } from '../../local/echo-upstream.ts'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import { catalogFor, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { answerOf, checkerOf, documentedPath, openApi, operation, undescribed } from './support/openapi.ts'

/** The requests whose fields are OpenAI's and Anthropic's, and the tables by which the gateway reads them. */
const OF_ROWS: Readonly<Record<string, readonly string[]>> = {
  ChatCompletionRequest: Object.keys(CHAT_FIELDS),
  ResponseRequest: RESPONSES_FIELDS.names.filter((name) => !OWN_WORDS.has(name)),
  CompletionRequest: COMPLETION_FIELDS.names,
  EmbeddingRequest: EMBEDDING_FIELDS.names,
  MessagesCountRequest: MESSAGES_FIELDS.names,
}
/** Parts of these requests. */
const PARTS = ['CacheControl', 'Citations', 'ChatContent']
const ROUTES = HTTP_ROUTES.map(({ method, path }) => [method, path as PublicPath] as const)
const documented = (method: string, path: string) => operation(documentedPath(path), method.toLowerCase())

let echo: Awaited<ReturnType<typeof startEcho>>
let gateway: TestGateway
let secret: string

beforeAll(async () => {
  echo = await startEcho()
  gateway = await openFor(catalogFor(echo.url, { id: 'echo' }))
  secret = (await gateway.issue({ dailyCredits: 5_000_000_000n, models: ['echo', 'claude-*'] })).secret
})
afterAll(() => echo.close())

test('docs/openapi.json is as `npm run schema` writes it', () => {
  expect(openApi).toEqual(JSON.parse(JSON.stringify(publicOpenApi())))
})

test('every property of ours, parameter and header of docs/openapi.json is described', () => {
  const { schemas, ...components } = openApi.components
  const ours = Object.entries(schemas).filter(([name]) => !(name in OF_ROWS || PARTS.includes(name)))
  expect(undescribed({ ...openApi, components: { ...components, schemas: Object.fromEntries(ours) } })).toEqual([])
})

test('every request of OpenAI’s and Anthropic’s in docs/openapi.json has each field of the gateway’s table, and a link', () => {
  for (const [name, fields] of Object.entries(OF_ROWS)) {
    const { properties, externalDocs } = openApi.components.schemas[name] as Record<string, object>
    expect(externalDocs).toEqual({ description: expect.any(String), url: expect.stringMatching(/^https:/) })
    expect(Object.keys(properties ?? {}).toSorted()).toEqual(fields.toSorted())
  }
})

test.each(ROUTES)('%s %s has a tag, and examples that are valid by their schemas', (method, path) => {
  const { tags, requestBody, responses } = documented(method, path)
  expect(openApi.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]))
  expect(tags).toHaveLength(1)
  const answers = answerOf({ responses }, 200)?.content ?? {}
  expect(Object.keys(answers)).toContain('application/json')
  for (const [type, { schema, example }] of [
    ...Object.entries(requestBody?.content ?? {}),
    ...Object.entries(answers),
  ]) {
    const values = type === 'text/event-stream' ? eventsIn(String(example)) : [example]
    expect(values).not.toHaveLength(0)
    for (const value of values) checkerOf(schema).parse(value)
  }
  expect(requestBody !== undefined).toBe(method === 'POST')
})

test.each(ROUTES)('the example of %s %s is as the gateway answers it', async (method, path) => {
  const { request, query = '', answer, stream } = EXAMPLES[path]
  const id = path.startsWith('/v1/usage') ? await answeredId() : 'echo'
  const asked = await (path === '/v1/embeddings' ? embedder() : { url: gateway.baseUrl, secret, change: {} })
  const url = asked.url + path.replace(/\{.*\}/, id) + query
  const headers = { Authorization: `Bearer ${asked.secret}`, 'Content-Type': 'application/json' }
  const ask = (wish: object) =>
    fetch(url, { method, headers, ...(request && { body: JSON.stringify({ ...request, ...asked.change, ...wish }) }) })
  expect(shapeOf(await (await ask({})).json())).toEqual(shapeOf(answer))
  if (!stream) return
  const events = eventsIn(await (await ask({ stream: true })).text())
  expect(events.map(shapeOf)).toEqual(expect.arrayContaining(stream.map(shapeOf)))
})

async function answeredId(): Promise<string> {
  const answer = await gateway.post(secret, EXAMPLES['/v1/chat/completions'].request)
  return answer.headers.get('x-request-id') ?? ''
}

/** A gateway in front of vectors, which the echo does not have. */
async function embedder() {
  const { url } = await openUpstream(embed())
  const { baseUrl, issue } = await openFor(embeddingCatalog([url], { dimensions: 2 }))
  return { url: baseUrl, secret: (await issue({ scopes: ['embeddings'] })).secret, change: { model: 'test-embedding' } }
}

function eventsIn(stream: string): unknown[] {
  const data = [...stream.matchAll(/^data: (\{.*\})$/gm)]
  return data.map(([, json = '']) => JSON.parse(json))
}

/** The fields of a value and their types. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}
