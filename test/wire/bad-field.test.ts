import { expect, test } from '@jest/globals'
import { loadContract, requestContractOf } from '../../layers/gateway/contracts/contracts.ts'
import { REQUEST_CODES } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { type EndpointName, endpointNamed } from '../../layers/gateway/endpoints.ts'

/** The complaint about a request with a fault, wherever it is told. */
async function complaintOf(name: EndpointName, value: object): Promise<{ message: string; code: string }> {
  const endpoint = endpointNamed(name)
  await loadContract(endpoint)
  try {
    const { unknown } = requestContractOf(endpoint).readRequest({
      value: { model: 'm', ...value },
      bytes: 1,
      callerId: 'key_1',
    })
    const [first] = unknown
    return { message: first?.complaint() ?? '', code: first?.code ?? '' }
  } catch (error) {
    return error as Error & { code: string }
  }
}

const USER = { role: 'user', content: 'Hello' }
const says = (role: string, content: unknown) => ({ messages: [{ role, content }] })
const part = (type: string, more: object = {}) => says('user', [{ type, ...more }])

test.each<[EndpointName, string, object, string, string]>([
  ['chat.completions', 'messages[0].role', says('usr', ''), 'usr', 'user'],
  ['chat.completions', 'messages[0].content[0].type', part('txt'), 'txt', 'text'],
  [
    'chat.completions',
    'messages[0].content[0].image_url.detail',
    part('image_url', { image_url: { url: 'https://x.test/', detail: 'hihg' } }),
    ...(['hihg', 'high'] as const),
  ],
  [
    'chat.completions',
    'response_format.type',
    { response_format: { type: 'json-schema' } },
    'json-schema',
    'json_schema',
  ],
  ['chat.completions', 'tool_choice', { tool_choice: 'atuo' }, 'atuo', 'auto'],
  ['chat.completions', 'tool_choice.type', { tool_choice: { type: 'functon' } }, 'functon', 'function'],
  ['chat.completions', 'tools[0]', { tools: [{ type: 'functon' }] }, 'functon', 'function'],
  ['chat.completions', 'reasoning_effort', { reasoning_effort: 'hihg' }, 'hihg', 'high'],
  ['chat.completions', 'reasoning.summary', { reasoning: { summary: 'detailled' } }, 'detailled', 'detailed'],
  ['completions', 'response_format.type', { prompt: 'x', response_format: { type: 'txt' } }, 'txt', 'text'],
  ['embeddings', 'encoding_format', { input: 'x', encoding_format: 'flaot' }, 'flaot', 'float'],
  ['embeddings', 'input_type', { input: 'x', input_type: 'qeury' }, 'qeury', 'query'],
  ['responses', 'input[0].role', { input: [{ role: 'usr', content: 'x' }] }, 'usr', 'user'],
  ['responses', 'input[0].type', { input: [{ type: 'funtion_call' }] }, 'funtion_call', 'function_call'],
  ['responses', 'tools[0].type', { input: 'x', tools: [{ type: 'functon', name: 'f' }] }, 'functon', 'function'],
  ['responses', 'tool_choice', { input: 'x', tool_choice: 'atuo' }, 'atuo', 'auto'],
  ['responses', 'truncation', { input: 'x', truncation: 'disbled' }, 'disbled', 'disabled'],
  ['responses', 'text.format.type', { input: 'x', text: { format: { type: 'txt' } } }, 'txt', 'text'],
  ['messages', 'messages[0].role', { max_tokens: 1, ...says('asistant', 'x') }, 'asistant', 'assistant'],
  ['messages', 'messages[0].content[0].type', { max_tokens: 1, ...part('txt') }, 'txt', 'text'],
  ['messages', 'tool_choice.type', { max_tokens: 1, messages: [USER], tool_choice: { type: 'atuo' } }, 'atuo', 'auto'],
  ['messages', 'thinking.type', { max_tokens: 1, messages: [USER], thinking: { type: 'enabld' } }, 'enabld', 'enabled'],
])('at %s the wrong word of %s is shown, with the one that was meant', async (name, path, value, got, meant) => {
  const { message, code } = await complaintOf(name, {
    ...(name === 'chat.completions' && { messages: [USER] }),
    ...value,
  })
  expect(message).toMatch(new RegExp(`^'${path.replace(/[[\].]/g, '\\$&')}' `))
  expect(message).toContain(`but got '${got}'; did you mean '${meant}'?`)
  expect(REQUEST_CODES).toContain(code)
})

test.each([
  ['of a prompt’s length', 'x'.repeat(41), 'a string of 41 characters'],
  ['of several words', 'my secret', 'a string of 9 characters'],
  ['like a key', 'sk-abcdefgh1234', 'a string of 15 characters'],
  ['that hides a sign', 'us\u202Eer', "'us\uFFFDer'; did you mean 'user'?"],
  ['that is no text', 7, '7'],
  ['that is a short word', 'moderator', "'moderator'."],
])('a role %s is told by its kind or made plain', async (_, role, told) => {
  const { message } = await complaintOf('chat.completions', says(role as string, 'x'))
  expect(message).toMatch(/'messages\[0\]\.role' must be one of system, developer, user, .*, but got /)
  expect(message).toContain(`but got ${told}`)
})

test.each<[EndpointName, object, string]>([
  ['chat.completions', { mesages: [USER] }, "There is 'mesages' in its place: did you mean 'messages'?"],
  ['chat.completions', { model: undefined, modle: 'x', messages: [USER] }, "There is 'modle' in its place"],
  [
    'chat.completions',
    { messages: [{ rol: 'user', content: 'x' }] },
    "There is 'rol' in its place: did you mean 'role'?",
  ],
  ['chat.completions', { messages: [{ role: 'user', contnet: 'x' }] }, "There is 'contnet' in its place"],
  ['chat.completions', { input: 'x' }, "'input' is a field of /v1/responses."],
  ['responses', { inputs: 'x' }, "There is 'inputs' in its place: did you mean 'input'?"],
  ['completions', { promt: 'x' }, "There is 'promt' in its place: did you mean 'prompt'?"],
  ['embeddings', { inputs: 'x' }, "There is 'inputs' in its place: did you mean 'input'?"],
  ['messages', { max_token: 5, messages: [USER] }, "There is 'max_token' in its place: did you mean 'max_tokens'?"],
  ['messages', { max_tokens: 5, message: [USER] }, "There is 'message' in its place: did you mean 'messages'?"],
])('at %s a field that is missing is looked for beside it (case %#)', async (name, value, hint) => {
  const { message, code } = await complaintOf(name, value)
  expect([code, message]).toEqual(['missing_required_parameter', expect.stringContaining(hint)])
})

test('a number or a flag in quotes is shown', async () => {
  const ask = (fields: object) => complaintOf('chat.completions', { messages: [USER], ...fields })
  expect((await ask({ temperature: '0.7' })).message).toMatch(/a number between 0 and 2, but got the string '0\.7'\.$/)
  expect((await ask({ stream: 'true' })).message).toMatch(/true or false, but got the string 'true'\.$/)
  expect((await ask({ temperature: 'a secret' })).message).toMatch(/got a string of 8 characters\.$/)
})
