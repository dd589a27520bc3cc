import { fields, MIB, many } from './worst-requests.ts'

// Requests of Responses of up to 4 MiB, each the worst for some loop that reads its items.

const said = (text: string, role = 'user') => ({ type: 'message', role, content: text })
const call = (id: string, args = '{}') => ({ type: 'function_call', call_id: id, name: 'f', arguments: args })
const result = (id: string, output: unknown = 'ok') => ({ type: 'function_call_output', call_id: id, output })
const called = (id: string, args: string) => [said('Hi'), call(id, args), result(id)]
const texts = (count: number) => many(count, () => ({ type: 'input_text', text: 'a' }))
const thought = (index: number) => ({
  type: 'reasoning',
  id: `rs_${index}`,
  summary: [{ type: 'summary_text', text: 'a' }],
  encrypted_content: 'a'.repeat(100),
})

/** Each request by its description, made only when it is needed. */
export const WORST_RESPONSES: Readonly<Record<string, () => object>> = {
  '10,000 items by turns': () => ({
    input: many(10_000, (index) => said('a'.repeat(300), index % 2 ? 'assistant' : 'user')),
  }),
  '10,000 thoughts in a row': () => ({ input: [...many(9_999, thought), said('Hi')] }),
  '9,998 calls and no result': () => ({ input: [said('Hi'), ...many(9_998, (index) => call(`c${index}`))] }),
  '4,999 calls with their results in the opposite order': () => {
    const calls = many(4_999, (index) => call(`c${index}`))
    return { input: [said('Hi'), ...calls, ...many(4_999, (index) => result(`c${4_998 - index}`))] }
  },
  '100,000 parts in one item': () => ({ input: [{ role: 'user', content: texts(100_000) }] }),
  '60,000 parts of the result of a tool': () => ({ input: [said('Hi'), call('c'), result('c', texts(60_000))] }),
  'arguments of 1,000,000 levels': () => ({
    input: called('c', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`),
  }),
  'arguments of 150,000 fields': () => ({ input: called('c', JSON.stringify(fields(150_000, 1))) }),
  'a call id of 1 MiB of odd characters': () => ({ input: called('.'.repeat(MIB), '{}') }),
  '150,000 unknown fields': () => fields(150_000, 1),
  '150,000 unknown fields of null': () => fields(150_000, null),
  'an item of 150,000 unknown fields': () => ({ input: [{ ...said('Hi'), ...fields(150_000, 1) }] }),
  'metadata of 150,000 fields': () => ({ metadata: fields(150_000, 'a') }),
  'an include of 300,000 words': () => ({ include: many(300_000, () => 'a') }),
  '1,024 namespaces of one tool each': () => ({
    tools: many(1024, (index) => ({
      type: 'namespace',
      name: `n${index}`,
      description: 'a'.repeat(1_000),
      tools: [{ type: 'function', name: 'f', parameters: { properties: fields(50, {}) } }],
    })),
  }),
  'a namespace of 20,000 tools': () => {
    const tools = many(20_000, (index) => ({ type: 'function', name: `f${index}` }))
    return { tools: [{ type: 'namespace', name: 'n', tools }] }
  },
}
