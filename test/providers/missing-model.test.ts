import { expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say, status } from '../support/upstream.ts'

const NAME = 'acme/model-5.1'
const CLOSED = { contextLength: 10_000, maxOutputTokens: 100, price: { input: '1', output: '2' } }

const upstream = await openUpstream()
const other = await openUpstream(say('Hello'))
const model = (id: string) => ({ ...CLOSED, id, routes: [{ provider: id, model: NAME }], fallback: ['other'] })
const gateway = await openFor(
  requireCatalog({
    providers: {
      openai: { type: 'openai', baseUrl: upstream.url },
      responses: { type: 'openai', contract: 'responses', baseUrl: upstream.url },
      anthropic: { type: 'anthropic', baseUrl: upstream.url },
      other: { type: 'openai', baseUrl: other.url },
    },
    models: [
      ...['openai', 'responses', 'anthropic'].map(model),
      { ...CLOSED, id: 'other', routes: [{ provider: 'other', model: 'm' }] },
    ],
  }),
)

async function attemptsAt(provider: string, code: number, body: unknown): Promise<string | null> {
  upstream.reply = status(code, body)
  const { response } = await gateway.ask({ model: provider })
  return response.headers.get('x-svc-attempts')
}

const said = (message: string, rest: object = {}) => ({ error: { message, ...rest } })

test.each<[by: string, code: number, body: unknown]>([
  [
    'OpenAI',
    404,
    said(`The model \`${NAME}\` does not exist or you do not have access to it.`, { code: 'model_not_found' }),
  ],
  [
    'OpenAI for a project',
    403,
    said(`Project \`p\` does not have access to model \`${NAME}\``, { code: 'model_not_found' }),
  ],
  ['Groq for a model of the past', 400, said('The model has been decommissioned.', { code: 'model_decommissioned' })],
  ['Azure', 404, said('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' })],
  [
    'Mistral',
    400,
    { object: 'error', message: `Invalid model: ${NAME}`, type: 'invalid_model', param: null, code: '1500' },
  ],
  ['vLLM', 404, said(`The model \`${NAME}\` does not exist.`, { type: 'NotFoundError', param: 'model', code: 404 })],
  ['vLLM of before', 404, { object: 'error', message: `The model \`${NAME}\` does not exist.`, code: 404 }],
  ['Ollama', 404, said(`model "${NAME}" not found, try pulling it first`, { type: 'api_error', code: null })],
  ['Ollama of today', 404, said(`model '${NAME}' not found`, { type: 'not_found_error' })],
  ['OpenRouter', 400, { ...said(`${NAME} is not a valid model ID`, { code: 400 }), user_id: 'user_1' }],
  [
    'Google',
    404,
    [
      said(
        `models/${NAME} is not found for API version v1main, or is not supported for generateContent. Call ListModels to see the list.`,
      ),
    ],
  ],
])('a model that %s does not have (%i) is the fault of its route, and a fallback answers', async (_, code, body) => {
  for (const contract of ['openai', 'responses']) {
    expect(await attemptsAt(contract, code, body)).toBe(`${contract}=model_not_found ${code}, other=ok`)
  }
})

test('a model that Anthropic does not have is the fault of its route, and a fallback answers', async () => {
  const body = { type: 'error', error: { type: 'not_found_error', message: `model: ${NAME} ` } }
  expect(await attemptsAt('anthropic', 404, body)).toBe('anthropic=model_not_found 404, other=ok')
})

test.each<[what: string, code: number, body: unknown]>([
  ['nothing', 404, ''],
  ['that no endpoint supports it', 404, said('No endpoints found that support tool use.', { code: 404 })],
  ['that no endpoint is allowed', 404, said('No endpoints found matching your data policy.', { code: 404 })],
  ['that another model is missing', 404, said('The model `gpt-image-9` does not exist.')],
  ['that a tool’s model is missing', 400, said('No such model.', { code: 'model_not_found', param: 'tools[0].model' })],
  ['the caller’s words after its own', 404, said(`Unknown role 'x': The model \`${NAME}\` does not exist.`)],
  ['the caller’s words before its own', 400, said(`${NAME} is not a valid model ID is not one of ['user']`)],
  ['a longer name', 404, said(`model: ${NAME}-and-more`)],
  ['a name with another sign at its point', 404, said(`model: ${NAME.replace('.', 'x')}`)],
  ['it with a status for something else', 409, said('No.', { code: 'model_not_found' })],
])('an upstream that says %s (%i) leads to no fallback', async (_, code, body) => {
  for (const contract of ['openai', 'responses', 'anthropic']) {
    expect(await attemptsAt(contract, code, body)).toMatch(/^\w+=(status|rejected) \d+$/)
  }
})

test('a caller’s words that Anthropic quotes are not taken for an empty account', async () => {
  const error = {
    type: 'invalid_request_error',
    message: "tools.0: Input tag 'Your credit balance is too low' is unknown",
  }
  expect(await attemptsAt('anthropic', 400, { type: 'error', error })).toBe('anthropic=rejected 400')
})
