import { expect, test } from '@jest/globals'
import { faultOf, type RequestName } from './support/strict.ts'

const CALL = { type: 'function_call', call_id: 'call_1', name: 'ring', arguments: '{}' }

const REFUSED: readonly [RequestName, object, string][] = [
  ['chat', { tools: [{ type: 'web_search' }] }, 'body.tools[0] may not be'],
  ['chat', { messages: [{ role: 'assistant', content: 'Hi', phase: 'final_answer' }] }, 'phase is unknown'],
  ['chat', { messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'Ding.' }] }, 'call_1 is not both'],
  ['responses', { input: [{ type: 'additional_tool', tools: [] }] }, 'body.input[0] may not be'],
  ['responses', { tools: [{ type: 'tool_search', execution: 'nowhere' }] }, 'execution is "nowhere"'],
  ['responses', { input: [CALL] }, 'call_1 is not both'],
  ['responses', { input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }] }, 'another seal'],
  [
    'messages',
    { messages: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] },
    'content[0] may not be',
  ],
  ['messages', { context_management: {} }, 'context_management is unknown'],
  ['bedrock', { toolConfig: { tools: [{ toolSpec: { name: 'ring', type: 'function' } }] } }, 'type is unknown'],
]

test.each(REFUSED)('the upstream of %s refuses %j', (name, body, fault) => {
  expect(faultOf(name, body as never)).toContain(fault)
})
