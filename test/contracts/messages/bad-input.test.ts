import { expect, test } from '@jest/globals'
import { booksBalance } from '../../support/gateway.ts'
import { openBoth } from '../../support/stack.ts'
import { ask } from './support/ask.ts'
import { ERROR } from './support/message-schema.ts'

const PROMPT = 'ZEBRA-whispered-prompt'
const MIB = 1024 * 1024

const { upstream, gateway } = await openBoth()
const { key, secret } = await gateway.issue({ rpm: 60_000, dailyLimit: 1_000_000 })

const GOOD = { model: 'test-model', max_tokens: 10, messages: [{ role: 'user', content: PROMPT }] }
const without = (field: keyof typeof GOOD) => ({ ...GOOD, [field]: undefined })
const says = (role: string, content: unknown) => ({ messages: [{ role, content }] })
const user = (...blocks: unknown[]) => says('user', blocks)
const assistant = (...blocks: unknown[]) => says('assistant', blocks)
const result = (fields: object) => user({ type: 'tool_result', tool_use_id: 'a', ...fields })
const source = (type: string, of: unknown) => user({ type, source: of })
const tool = (fields: object) => ({ tools: [{ name: 'f', input_schema: { type: 'object' }, ...fields }] })
const choose = (tool_choice: unknown) => ({ ...tool({}), tool_choice })

/** The fault, its request, and the message for the caller. */
const BAD: readonly [string, unknown, RegExp][] = [
  ['no object', [GOOD], /must be a JSON object, but got an array/],
  ['401 fields', Object.fromEntries(Array.from({ length: 398 }, (_, i) => [`f${i}`, 1])), /at most 400 fields/],
  ['no model', without('model'), /^'model' must be the id of a model/],
  ['a model that is no text', { ...GOOD, model: 7 }, /^'model' must be the id of a model.* got 7/],
  ['no max_tokens', without('max_tokens'), /^'max_tokens' must be an integer of at least 1, but it is missing/],
  ['max_tokens of 0', { ...GOOD, max_tokens: 0 }, /^'max_tokens' must be .* got 0/],
  ['no messages', without('messages'), /^'messages' must be a non-empty array of messages/],
  ['empty messages', { ...GOOD, messages: [] }, /^'messages' must be a non-empty array/],
  ['too many messages', { ...GOOD, messages: Array(10_001).fill(GOOD.messages[0]) }, /at most 10000 elements/],
  ['a message that is text', { ...GOOD, messages: [PROMPT] }, /^'messages\[0\]' must be an object/],
  ['a message that is null', { ...GOOD, messages: [null] }, /^'messages\[0\]' must be a value, but got null/],
  ['an unknown role', says('tool', PROMPT), /^'messages\[0\]\.role' must be one of user, assistant, system/],
  ['no content', says('user', undefined), /^'messages\[0\]\.content' must be a string or an array/],
  ['a block that is text', user(PROMPT), /^'messages\[0\]\.content\[0\]' must be an object with a 'type'/],
  ['a block without a type', user({ text: PROMPT }), /^'messages\[0\]\.content\[0\]\.type' must be one of text/],
  ['a text without text', user({ type: 'text' }), /^'messages\[0\]\.content\[0\]\.text' must be a string/],
  ['an image without a source', source('image', undefined), /content\[0\]\.source' must be an object of the type/],
  ['a source of no kind', source('image', { type: 'moon' }), /source\.type' must be one of base64, url/],
  ['an image without data', source('image', { type: 'base64', media_type: 'image/png' }), /source\.data' must be/],
  ['an image without a type', source('image', { type: 'base64', data: 'AAAA' }), /source\.media_type' must be/],
  ['an image without an address', source('image', { type: 'url' }), /source\.url' must be a non-empty string/],
  [
    'an uploaded file',
    source('image', { type: 'file', file_id: 'f' }),
    /source\.file_id' names something that is stored at a provider/,
  ],
  ['a document of no kind', source('document', { type: 'moon' }), /source\.type' must be one of base64, url/],
  ['a document without text', source('document', { type: 'text' }), /source\.data' must be a string/],
  ['a document of odd blocks', source('document', { type: 'content', content: [{ type: 'x' }] }), /content\[0\]\.type/],
  [
    'a document with a number for a title',
    user({ type: 'document', title: 7, source: { type: 'text', data: 'a' } }),
    /content\[0\]\.title' must be a string/,
  ],
  ['a search result without a title', user({ type: 'search_result', source: 'a' }), /content\[0\]\.title' must be/],
  ['a result without an id', user({ type: 'tool_result' }), /content\[0\]\.tool_use_id' must be a non-empty string/],
  ['a result of odd blocks', result({ content: [{ type: 'text' }] }), /content\[0\]\.content\[0\]\.text' must be/],
  ['a call of the user’s', user({ type: 'tool_use' }), /content\[0\]\.type' must be in a message of the role 'assist/],
  ['a thought of the user’s', user({ type: 'thinking' }), /content\[0\]\.type' must be in a message of the role 'assi/],
  ['a result of the assistant’s', assistant({ type: 'tool_result' }), /must be in a message of the role 'user'/],
  ['a call without an id', assistant({ type: 'tool_use', name: 'f', input: {} }), /content\[0\]\.id' must be/],
  ['a call without a name', assistant({ type: 'tool_use', id: 'a', input: {} }), /content\[0\]\.name' must be/],
  ['a call without input', assistant({ type: 'tool_use', id: 'a', name: 'f' }), /content\[0\]\.input' must be an obj/],
  ['a thought without words', assistant({ type: 'thinking', signature: 'a' }), /content\[0\]\.thinking' must be a str/],
  ['a redacted thought without data', assistant({ type: 'redacted_thinking' }), /content\[0\]\.data' must be a string/],
  [
    'instructions with an image',
    { system: [{ type: 'image' }] },
    /^'system\[0\]\.type' must be 'text', but got 'image'\.$/,
  ],
  ['instructions without text', { system: [{ type: 'text' }] }, /^'system\[0\]\.text' must be a string/],
  ['a temperature of 2', { temperature: 2 }, /^'temperature' must be a number between 0 and 1/],
  ['a top_k of -1', { top_k: -1 }, /^'top_k' must be an integer of at least 0/],
  ['a user of 7', { metadata: { user_id: 7 } }, /^'metadata\.user_id' must be a string/],
  ['too many tools', { tools: Array(1025).fill({}) }, /^'tools' must be an array of at most 1024/],
  ['a tool without a name', tool({ name: '' }), /^'tools\[0\]\.name' must be a non-empty string/],
  ['a tool without a schema', tool({ input_schema: 'x' }), /^'tools\[0\]\.input_schema' must be an object/],
  ['a tool of the type 7', tool({ type: 7 }), /^'tools\[0\]' is passed on .* only as a tool of type 'custom'/],
  ['an unknown choice', choose({ type: 'moon' }), /^'tool_choice\.type' must be one of auto, any, tool, none/],
  ['a choice without a name', choose({ type: 'tool' }), /^'tool_choice\.name' must be a non-empty string/],
  [
    'an unknown effort',
    { output_config: { effort: 'moon' } },
    /^'output_config\.effort' is passed on .* only as one of none/,
  ],
  [
    'an unknown format',
    { output_config: { format: { type: 'xml' } } },
    /^'output_config\.format\.type' must be 'json_schema', but got 'xml'\.$/,
  ],
  [
    'a format without a schema',
    { output_config: { format: { type: 'json_schema' } } },
    /format\.schema' must be an ob/,
  ],
  [
    'a tool that no definition knows',
    { tools: [{ type: 'teleport_20270101', name: 'teleport' }] },
    /'tools\[0\]' .*only as a tool of type 'custom'/,
  ],
  ['a tier', { service_tier: 'priority' }, /'service_tier' is passed on .* only as one of standard_only, auto/],
  ['a speed', { speed: 'warp' }, /'speed' is passed on .* only as one of standard, fast/],
  ['a field of the future', { warp: 9 }, /Unknown field `warp`/],
  ['a block of the future', user({ type: 'hologram' }), /content\[0\]\.type' must be one of text, image/],
  [
    'a field of a block',
    user({ type: 'text', text: 'Hi', video: 'a' }),
    /Unknown field `messages\[0\].content\[0\].video`/,
  ],
  ['an unknown output', { output_config: { warp: 9 } }, /^Unknown field `output_config\.warp`/],
]

async function expectRefused(fields: unknown, words: RegExp, path?: string): Promise<void> {
  const body = Array.isArray(fields) ? fields : { ...GOOD, ...(fields as object) }
  const response = await ask(gateway, secret, body, { ...(path !== undefined && { path }) })
  const text = await response.text()
  expect([response.status, text]).toEqual([400, expect.any(String)])
  const { error } = ERROR.parse(JSON.parse(text))
  expect(error).toEqual({ type: 'invalid_request_error', message: expect.stringMatching(words) })
  expect(text).not.toContain(PROMPT)
  expect(response.headers.get('x-svc-cost')).toBe('0')
  expect(upstream.requests).toEqual([])
}

test.each(BAD)(
  'a message with %s is refused in words that say where, and charged nothing',
  async (_, fields, words) => {
    await expectRefused(fields, words)
  },
)

test.each(
  BAD.filter(([name]) => /^(empty messages|max_tokens of 0|a text without|too many tools|an unknown role)/.test(name)),
)('a count of a message with %s is refused in the same words', async (_, fields, words) => {
  await expectRefused(fields, words, '/v1/messages/count_tokens')
})

test.each<[string, string, Record<string, string>, number, string]>([
  ['no JSON', `{"a": ${PROMPT}`, {}, 400, 'invalid_request_error'],
  ['nothing', '', {}, 400, 'invalid_request_error'],
  ['JSON 65 levels deep', `${'['.repeat(65)}${']'.repeat(65)}`, {}, 400, 'invalid_request_error'],
  ['a field __proto__', '{"__proto__": {}}', {}, 400, 'invalid_request_error'],
  ['5 MiB', JSON.stringify({ ...GOOD, system: 'a'.repeat(5 * MIB) }), {}, 413, 'request_too_large'],
  ['a form', 'a=b', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'invalid_request_error'],
])('a body of %s is refused in Anthropic’s shape', async (_, body, headers, status, type) => {
  const response = await ask(gateway, secret, body, { headers })
  expect(response.status).toBe(status)
  const told = ERROR.parse(await response.json())
  expect(told.error.type).toBe(type)
  expect(told.error.message).not.toContain(PROMPT)
})

test('after all bad input nothing is held or spent, and a good request is served', async () => {
  const response = await ask(gateway, secret, GOOD)
  expect(response.status).toBe(200)
  const after = await gateway.readKey(key.id)
  expect({ balance: booksBalance(after), holds: after.holds, spent: after.spent }).toEqual({
    balance: true,
    holds: {},
    spent: 20_000n,
  })
})

test.each<[string, () => object]>([
  [
    'a document of 60,000 blocks',
    () => source('document', { type: 'content', content: Array(60_000).fill({ type: 'text', text: 'a' }) }),
  ],
  ['a user of 3 MiB', () => ({ metadata: { user_id: 'u'.repeat(3 * MIB) } })],
  ['an image of 3 MiB', () => source('image', { type: 'base64', media_type: 'image/png', data: 'A'.repeat(3 * MIB) })],
])('a request with %s is answered in time', async (_, fields) => {
  const text = JSON.stringify({ ...GOOD, ...fields() })
  const { secret: rich } = await gateway.issue({ credits: '1000' })
  const before = performance.now()
  const response = await ask(gateway, rich, text)
  expect([200, 400]).toContain(response.status)
  await response.text()
  expect(performance.now() - before).toBeLessThan(10_000)
})
