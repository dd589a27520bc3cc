import { expect, test } from '@jest/globals'
import { openAnthropic } from '../../providers/anthropic/anthropic-fixtures.ts'
import { errorAnswer } from '../../sdk/support/answers.ts'
import { openBoth } from '../../support/stack.ts'
import { ask, HELLO } from './ask.ts'

const { upstream, gateway } = await openBoth()

const SECRET_TEXT = 'the-words-of-a-prompt'
const USER = { role: 'user', content: SECRET_TEXT }
const items = (...input: unknown[]) => ({ input })
const content = (...parts: unknown[]) => items({ role: 'user', content: parts })
const tools = (...list: object[]) => ({ tools: list })
const FN = { type: 'function', name: 'f' }
const CALL = { type: 'function_call', call_id: 'c', name: 'f', arguments: '' }
const thought = (more: object) => items({ type: 'reasoning', summary: [], ...more })
const inNamespace = (...list: object[]) => tools({ type: 'namespace', name: 'n', tools: list })

/** For each fault: the request, the parameter that is named, and words that say what to do. */
const BAD: Readonly<Record<string, readonly [request: unknown, param: string | null, words: string]>> = {
  'a body that is a list': [[], null, 'must be a JSON object'],
  'no model': [{ model: undefined }, 'model', 'GET /v1/models lists them'],
  'no input': [{ input: undefined }, 'input', 'it is missing'],
  'an empty text': [{ input: '' }, 'input', 'not empty'],
  'an empty list': [{ input: [] }, 'input', 'non-empty array'],
  'more than 10,000 items': [{ input: Array(10_001).fill(USER) }, 'input', 'at most 10000 elements'],
  'an item that is a text': [items(USER, SECRET_TEXT), 'input[1]', 'must be an item'],
  'an item of an unknown type': [items({ type: SECRET_TEXT }), 'input[0].type', 'must be one of message'],
  'an item that is only referred to': [items({ type: 'item_reference', id: 'msg_1' }), 'input[0]', "'store': false"],
  'a reference without a type': [items(USER, { id: 'msg_1' }), 'input[1]', 'Send the item itself'],
  'an unknown role': [items({ role: 'tool', content: 'x' }), 'input[0].role', 'user, assistant, system, developer'],
  'a message without content': [items({ role: 'user' }), 'input[0].content', 'it is missing'],
  'a part that is a text': [content(SECRET_TEXT), 'input[0].content[0]', "an object with a 'type'"],
  'a part of Chat Completions': [content({ type: 'text', text: 'x' }), 'input[0].content[0].type', 'input_text'],
  'a part with an inherited name': [content({ type: 'constructor' }), 'input[0].content[0].type', 'input_text'],
  'a picture without an address': [content({ type: 'input_image' }), 'input[0].content[0].image_url', 'missing'],
  'a stored picture': [content({ type: 'input_image', file_id: 'f' }), 'input[0].content[0].file_id', "'image_url'"],
  'a stored file': [content({ type: 'input_file', file_id: 'f' }), 'input[0].content[0].file_id', "'file_data'"],
  'a file’s address that is none': [
    content({ type: 'input_file', file_url: 'h' }),
    'input[0].content[0].file_url',
    'https',
  ],
  'a file of nothing': [content({ type: 'input_file' }), 'content[0].file_data', 'missing'],
  'audio of nothing': [content({ type: 'input_audio' }), 'input[0].content[0].input_audio', 'an object'],
  'a picture that an assistant said': [
    items({ role: 'assistant', content: [{ type: 'input_image', image_url: 'x' }] }),
    'input[0].content[0].type',
    'output_text',
  ],
  'a refusal without words': [
    items({ role: 'assistant', content: [{ type: 'refusal' }] }),
    'input[0].content[0].refusal',
    'must be a string',
  ],
  'a call without an id': [items({ ...CALL, call_id: undefined }), 'input[0].call_id', 'missing'],
  'a call without a name': [items({ ...CALL, name: undefined }), 'input[0].name', 'missing'],
  'a call without arguments': [items({ ...CALL, arguments: undefined }), 'input[0].arguments', 'string'],
  'a custom call without input': [items({ ...CALL, type: 'custom_tool_call' }), 'input[0].input', 'string'],
  'a result of no call': [
    items(USER, { type: 'function_call_output', call_id: SECRET_TEXT, output: 'x' }),
    'input[1].call_id',
    'a call among the items before it',
  ],
  'a result without output': [
    items(CALL, { type: 'function_call_output', call_id: 'c' }),
    'input[1].output',
    'missing',
  ],
  'a thought that is a text': [thought({ summary: 'x' }), 'input[0].summary', 'an array'],
  'a thought of an unknown kind': [thought({ summary: [{}] }), 'input[0].summary[0]', 'summary_text'],
  'a thought whose proof is none': [thought({ encrypted_content: 7 }), 'input[0].encrypted_content', 'a string'],
  'a thought whose proof was changed': [
    thought({ encrypted_content: 'thoughts.v1.e30' }),
    'input[0].encrypted_content',
    'as it was in the answer',
  ],
  'tools that are no list': [{ tools: {} }, 'tools', 'an array'],
  'a tool that is a text': [{ tools: [SECRET_TEXT] }, 'tools[0]', 'must be a tool'],
  'a tool without a type': [tools({ name: 'f' }), 'tools[0].type', 'function, custom, namespace'],
  'a tool of Chat Completions': [tools({ type: 'function', function: { name: 'f' } }), 'tools[0].name', 'missing'],
  'a tool that no definition knows': [tools(FN, { type: 'teleport' }), 'tools[1].type', 'apply_patch'],
  'a loaded tool that no definition knows': [
    items({ type: 'additional_tools', role: 'developer', tools: [{ type: 'teleport' }] }),
    'input[0].tools[0].type',
    'apply_patch',
  ],
  'a hosted tool in a namespace': [inNamespace(FN, { type: 'web_search' }), 'tools[0].tools[1].type', 'custom'],
  'a namespace in a namespace': [inNamespace(...inNamespace().tools), 'tools[0].tools[0].type', 'custom'],
  'a namespace without tools': [tools({ type: 'namespace', name: 'n' }), 'tools[0].tools', 'an array'],
  'a namespace without a name': [tools({ type: 'namespace', tools: [] }), 'tools[0].name', 'missing'],
  'a name twice': [tools(FN, FN), 'tools[1].name', 'a tool before it'],
  'more than 1,024 tools': [
    tools(...Array.from({ length: 1025 }, (_, i) => ({ ...FN, name: `f${i}` }))),
    'tools',
    '1024',
  ],
  'a format that is none': [
    tools({ type: 'custom', name: 'c', format: { type: 'x' } }),
    'tools[0].format.type',
    'grammar',
  ],
  'a choice that is no word': [{ ...tools(FN), tool_choice: SECRET_TEXT }, 'tool_choice', 'none, auto, required'],
  'a hosted choice': [{ ...tools(FN), tool_choice: { type: 'web_search' } }, 'tool_choice', 'not offered'],
  'a choice without a name': [{ ...tools(FN), tool_choice: { type: 'function' } }, 'tool_choice.name', 'missing'],
  'a choice among no tools': [{ tool_choice: 'required' }, 'tool_choice', 'there are no tools'],
  'an unknown mode': [{ tool_choice: { type: 'allowed_tools', tools: [] } }, 'tool_choice.mode', 'auto, required'],
  'allowed tools that are none': [
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp' }] } },
    'tool_choice',
    'not offered',
  ],
  'an unknown format': [{ text: { format: { type: 'xml' } } }, 'text.format.type', 'json_schema'],
  'a schema without a name': [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name', 'missing'],
  'no schema': [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema', 'an object'],
  'an effort that is a number': [{ reasoning: { effort: 1 } }, 'reasoning.effort', 'one of none'],
  'another way to think': [{ reasoning: { context: 'some' } }, 'reasoning.context', 'all_turns'],
  'an unknown thing to include': [{ include: ['everything'] }, 'include[0]', 'reasoning.encrypted_content'],
  'a cap of nothing': [{ max_output_tokens: 0 }, 'max_output_tokens', 'at least 1'],
  'an unknown truncation': [{ truncation: 'middle' }, 'truncation', 'auto, disabled'],
  'an earlier response': [{ previous_response_id: 'resp_1' }, 'previous_response_id', "earlier items in 'input'"],
  'a conversation': [{ conversation: 'conv_1' }, 'conversation', "items in 'input'"],
  'a stored prompt': [{ prompt: { id: 'pmpt_1' } }, 'prompt', "own text in 'instructions'"],
  'work in the background': [{ background: true }, 'background', "'stream': true"],
  'messages of Chat Completions': [{ messages: [] }, 'input', "no 'messages' here"],
  'a cap of Chat Completions': [{ max_tokens: 5 }, 'max_output_tokens', "no 'max_tokens' here"],
  'a format of Chat Completions': [{ response_format: {} }, 'text.format', "Use 'text.format'"],
  'several answers': [{ n: 5 }, 'n', 'one answer'],
  'an unknown tier': [{ service_tier: 'gold' }, 'service_tier', 'what the provider bills'],
  'a field that may cost extra': [{ plugins: [] }, 'plugins', 'what the provider bills'],
}

test.each(Object.entries(BAD))('%s is a 400 that names the field and says what to do', async (_, bad) => {
  const [request, param, words] = bad
  upstream.requests.length = 0
  const { key, secret } = await gateway.issue()
  const answer = await ask(gateway, secret, Array.isArray(request) ? request : { ...HELLO, ...(request as object) })
  const { error } = errorAnswer.parse(await answer.json())
  expect({ status: answer.status, param: error.param }).toEqual({ status: 400, param })
  expect(error.message).toContain(words)
  expect(error.message).not.toContain(SECRET_TEXT)
  expect(upstream.requests).toEqual([])
  const row = await gateway.readRow(answer.headers.get('x-request-id'))
  expect(row).toMatchObject({ endpoint: 'responses', httpStatus: 400, cost: 0n })
  expect((await gateway.readKey(key.id)).holds).toEqual({})
})

const claude = await openAnthropic()

test.each([
  [{ text: { format: { type: 'json_object' } } }, 'text.format', 'json_schema'],
  [{ reasoning: { effort: 'wild' } }, 'reasoning.effort', 'only as one of'],
  [{ logit_bias: { 1: 1 } }, 'logit_bias', 'biases'],
  [{ input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'x' }] }] }, 'input', "of type 'file'"],
])('a complaint of a dialect about %j is told in the words of this contract', async (request, param, words) => {
  const { secret } = await claude.gateway.issue()
  const answer = await ask(claude.gateway, secret, { ...HELLO, ...request })
  const { error } = (await answer.json()) as { error: { param: string; message: string } }
  expect({ status: answer.status, param: error.param }).toEqual({ status: 400, param })
  expect(error.message).toMatch(new RegExp(`^'${RegExp.escape(param)}' .*${RegExp.escape(words)}`))
})
