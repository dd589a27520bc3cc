import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { Attempt, Pricing, UsageRecord } from '../../../layers/admin/api/shapes/usage-record.ts'
import { type Endpoint, HTTP_ROUTES, type HttpRoute } from '../../../layers/gateway/endpoints.ts'
import * as answers from './contracts/answers.ts'
import * as requests from './contracts/requests.ts'
import { EXAMPLES, type Example } from './examples.ts'
import { ALWAYS, HEADERS, headersOf, LOWERED, OF_MODELS, PARAMETERS, REPLAYED, ROUTE_PARAMETER } from './headers.ts'
import { componentSchemas, type Json, schemaOf } from './json-schema.ts'
import { OPERATIONS, type PublicPath, TAGS } from './operations.ts'
import { refusalAnswers, refusalsOf } from './refusals.ts'
import { ApiKey, Window } from './shapes/api-key.ts'
import { ErrorBody } from './shapes/errors.ts'
import { Model, ModelList } from './shapes/models.ts'
import { Quote, QuoteRequest } from './shapes/quote.ts'
import { Credits, UsageList, UsageSums } from './shapes/usage.ts'

const { NAMED_PARTS, ...REQUESTS } = requests

/** Schemas with a name in the document; others are written inline. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  ...{ ApiKey, Window, Model, ModelList, Pricing, UsageRecord, Attempt, Error: ErrorBody },
  ...{ Credits, UsageList, UsageSums, Quote, QuoteRequest },
  ...{ ...NAMED_PARTS, ...REQUESTS, ...answers },
}

/** The OpenAPI document of the public API, made of its endpoints, errors and schemas. */
export function publicOpenApi(): Json {
  const named = (schema: z.ZodType) => schemaOf(schema, COMPONENTS)
  const paths = HTTP_ROUTES.map((route) => [
    // An id with slashes is to the document an id like any other.
    route.path.replace('{id+}', '{id}'),
    { [route.method.toLowerCase()]: operationOf(route) },
  ])
  return {
    ...about(),
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: SECURITY,
      headers: HEADERS,
      responses: refusalAnswers(named),
      schemas: componentSchemas(COMPONENTS),
    },
  }
}

function about(): Json {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
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

function operationOf(route: HttpRoute): Json {
  const { path, endpoint } = route
  const { operationId, tag, summary, description, id, query, request } = OPERATIONS[path as PublicPath]
  const example = EXAMPLES[path as PublicPath]
  const none = endpoint.quotes ? 'Needs the scope of the quoted endpoint.' : 'Needs no scope.'
  const scope = endpoint.scope ? `Needs the scope ${endpoint.scope}.` : none
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, scope].filter(Boolean).join(' '),
    ...(id && {
      parameters: [{ name: 'id', in: 'path', required: true, description: id, schema: { type: 'string' } }],
    }),
    ...(query && {
      parameters: Object.entries(query).map(([name, { schema, words }]) => ({
        name,
        in: 'query',
        description: words,
        schema: schemaOf(schema, COMPONENTS),
      })),
    }),
    ...(request && {
      parameters: endpoint.quotes ? [ROUTE_PARAMETER] : PARAMETERS,
      requestBody: { required: true, description: 'At most 4 MiB.', content: exampleContent(request, example.request) },
    }),
    responses: { 200: answerOf(path as PublicPath, endpoint, example), ...refusalsOf(route, query !== undefined) },
  }
}

function answerOf(path: PublicPath, { contract, countsOnly }: Endpoint, example: Example): Json {
  const { answer, stream } = OPERATIONS[path]
  const names = [
    ...ALWAYS,
    ...(contract === 'messages' ? ['Request-Id'] : []),
    ...(contract && !countsOnly ? [...OF_MODELS, LOWERED] : []),
    ...(contract ? [REPLAYED] : []),
  ]
  const streamed = stream && {
    'text/event-stream': {
      schema: { ...schemaOf(stream.events, COMPONENTS), description: stream.words },
      example: [...(example.stream ?? []).map(frameOf), stream.ending, ''].join('\n\n'),
    },
  }
  return {
    description: stream ? `${answer.description} With "stream": true, a stream of events.` : answer.description,
    headers: headersOf(names),
    content: { ...exampleContent(answer, example.answer), ...streamed },
  }
}

function exampleContent(schema: z.ZodType, example: unknown): Json {
  return { 'application/json': { schema: schemaOf(schema, COMPONENTS), example } }
}

/** An event with a type has it in a line of its own, too. */
function frameOf(event: object): string {
  const data = `data: ${JSON.stringify(event)}`
  return 'type' in event ? `event: ${event.type}\n${data}` : data
}
