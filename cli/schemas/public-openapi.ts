import { readFileSync } from 'node:fs'
import { type ENDPOINTS, HTTP_ROUTES, type HttpRoute } from '../../layers/gateway/endpoints.ts'
import { MOST_LISTED, USAGE_GROUPS } from '../../layers/gateway/wire/rows/usage-query.ts'
import { rowsOf, sentence, wordsOf } from './client-guide.ts'
import { CONTRACT_SCHEMAS, CONTRACTS } from './contracts.ts'
import { componentSchemas, type Json, jsonContent, refTo } from './json-schema.ts'
import * as responses from './responses.ts'
import * as shapes from './shapes.ts'

type PublicPath = (typeof ENDPOINTS)[keyof typeof ENDPOINTS]['routes'][number]['path']
type Operation = { readonly operationId: string; readonly tag: string; readonly answer?: keyof typeof shapes }

/** The answers of the others are those of their contracts. */
const OPERATIONS: Readonly<Record<PublicPath, Operation>> = {
  '/v1/chat/completions': { operationId: 'createChatCompletion', tag: 'Chat' },
  '/v1/responses': { operationId: 'createResponse', tag: 'Chat' },
  '/v1/responses/input_tokens': { operationId: 'countResponseTokens', tag: 'Chat' },
  '/v1/responses/compact': { operationId: 'compactResponse', tag: 'Chat' },
  '/v1/completions': { operationId: 'createCompletion', tag: 'Chat' },
  '/v1/embeddings': { operationId: 'createEmbedding', tag: 'Embeddings' },
  '/v1/messages': { operationId: 'createMessage', tag: 'Messages' },
  '/v1/messages/count_tokens': { operationId: 'countMessageTokens', tag: 'Messages' },
  '/v1/models': { operationId: 'listModels', tag: 'Models', answer: 'ModelList' },
  '/v1/models/{id+}': { operationId: 'getModel', tag: 'Models', answer: 'Model' },
  '/v1/key/introspect': { operationId: 'introspectKey', tag: 'Account', answer: 'ApiKey' },
  '/v1/credits': { operationId: 'getCredits', tag: 'Account', answer: 'Credits' },
  '/v1/usage': { operationId: 'listUsage', tag: 'Account', answer: 'UsageAnswer' },
  '/v1/usage/{id+}': { operationId: 'getUsage', tag: 'Account', answer: 'UsageRecord' },
  '/v1/statements/{id}': { operationId: 'getStatement', tag: 'Account', answer: 'Statement' },
  '/v1/quote': { operationId: 'createQuote', tag: 'Account', answer: 'Quote' },
}

export function publicOpenApi(): Json {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const paths = HTTP_ROUTES.map((route) => [
    documented(route.path),
    { [route.method.toLowerCase()]: operationOf(route) },
  ])
  const ours = componentSchemas({ ...shapes, Error: responses.ErrorBody, MessagesError: responses.MessagesError })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waybill',
      version,
      summary: 'A chat routing gateway with OpenAI- and Anthropic-compatible contracts.',
      description:
        'Every answer has X-Request-Id, and X-Svc-Cost unless it is a stream. With a valid key it has the RateLimit headers. Unknown paths are 404 and wrong methods are 405, in the shape of Error, or of MessagesError under /v1/messages.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: 'http://127.0.0.1:8787', description: 'a gateway on one machine' },
      {
        url: 'https://{distribution}',
        description: 'The BaseUrl that a deployment prints, without its /v1',
        variables: { distribution: { default: 'example.cloudfront.net' } },
      },
    ],
    security: [{ key: [] }, { 'x-api-key': [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: SECURITY,
      headers: responses.HEADERS,
      responses: responses.refusalAnswers(),
      schemas: { ...ours, ...CONTRACT_SCHEMAS },
    },
  }
}

const SECURITY = {
  key: { type: 'http', scheme: 'bearer', description: 'A key of the operator’s: svc_live_ and 43 characters.' },
  'x-api-key': {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The same key, as Anthropic’s clients send it.',
  },
}

const CALLS = rowsOf('| method and path | answer | scope |')

/** An id with slashes is to the document an id like any other. */
const documented = (path: string) => path.replace('{id+}', '{id}')

function operationOf(route: HttpRoute): Json {
  const { path, method, endpoint } = route
  const { request = 'QuoteRequest', answer = '', event } = CONTRACTS[path]?.names ?? {}
  const { operationId, tag, answer: ours = answer } = OPERATIONS[path as PublicPath]
  const [, told = '', scope] = CALLS.find(([call]) => call === `\`${method} ${documented(path)}\``) ?? []
  const parameters = parametersOf(route)
  return {
    operationId,
    tags: [tag],
    summary: sentence(told),
    description: `Scope: ${scope}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'POST' && {
      requestBody: { required: true, description: 'At most 4 MiB.', content: jsonContent(refTo(request)) },
    }),
    responses: {
      200: {
        description: sentence(told),
        headers: responses.answerHeaders(endpoint),
        content: { ...jsonContent(refTo(ours)), ...(event && { 'text/event-stream': { schema: streamOf(event) } }) },
      },
      ...responses.refusalsOf(route),
    },
  }
}

function streamOf(event: string): Json {
  const description =
    'Events as the contract has them. One that fails after its first byte ends with an error event. Lines that begin with `:` are comments: `: keep-alive` in pauses, and at the end, before `data: [DONE]` if the contract has it, `: x-svc-cost <credits>`.'
  return { anyOf: [refTo(event), refTo(event === 'MessagesEvent' ? 'MessagesError' : 'Error')], description }
}

const TEXT = { type: 'string' }
/** Parameters of a query that are not just texts. */
const QUERY: Readonly<Record<string, Json>> = {
  limit: { type: 'integer', minimum: 1, maximum: MOST_LISTED },
  group: { type: 'string', enum: USAGE_GROUPS },
}

function parametersOf({ path, method, endpoint }: HttpRoute): readonly Json[] {
  if (path.includes('{'))
    return [{ name: 'id', in: 'path', required: true, description: 'The id in question.', schema: TEXT }]
  if (method === 'POST')
    return responses.PARAMETERS.filter(({ name }) => !endpoint.quotes || name !== 'Idempotency-Key')
  const query = path === '/v1/usage' ? Object.entries(wordsOf('| parameter | meaning |')) : []
  return query.map(([name, description]) => ({ name, in: 'query', description, schema: QUERY[name] ?? TEXT }))
}
