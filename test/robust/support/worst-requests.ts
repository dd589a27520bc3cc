// Requests of up to 4 MiB, each the worst for some pattern or loop that reads it.

export const MIB = 1024 * 1024

const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const talk = (...messages: object[]) => ({ messages })
const imageAt = (url: string) => talk(user([{ type: 'image_url', image_url: { url } }]))
const image = (data: string) => imageAt(`data:image/png;base64,${data}`)
const calls = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls })
const call = (id: string, args?: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } })
const calling = (id: string, args: string, content: unknown = 'ok') => ({
  ...talk(user('Hi'), calls(call(id, args)), { role: 'tool', tool_call_id: id, content }),
  tools: [{ type: 'function', function: { name: 'f' } }],
})
export const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))
export const fields = (count: number, value: unknown) =>
  Object.fromEntries(many(count, (index) => [`field_${index}`, value]))
const MARK = { cache_control: { type: 'ephemeral' } }

/** Each request by its description, made only when it is needed. */
export const WORST_REQUESTS: Readonly<Record<string, () => object>> = {
  'an image of 60 KB of spaces': () => image(`${' '.repeat(60_000)}!`),
  'an image of 3 MiB of spaces': () => image(' '.repeat(3 * MIB)),
  'an image of letters and spaces by turns': () => image(`${'A '.repeat(1.5 * MIB)}!`),
  'an image of 3 MiB that ends in spaces': () => image(`AAAA${' '.repeat(3 * MIB)}`),
  'an image of nothing but padding': () => image('='.repeat(3 * MIB)),
  'an image with padding and spaces by turns': () => image(`AA${'= '.repeat(1.5 * MIB)}`),
  'an image of 3 MiB': () => image('A'.repeat(3 * MIB)),
  'an image address of 3 MiB': () => imageAt(`data:${'image/'.repeat(MIB / 2)}`),
  '140,000 parts in one message': () => talk(user(many(140_000, () => text('a')))),
  '140,000 parts that join the message before': () => talk(user('a'), user(many(140_000, () => text('a')))),
  '100,000 parts of instructions': () => talk({ role: 'system', content: many(100_000, () => text('a')) }, user('Hi')),
  '50,000 parts, each with a cache mark': () => talk(user(many(50_000, () => text('a', MARK)))),
  '100,000 parts of the result of a tool': () => {
    const parts = many(100_000, () => text('a'))
    return calling('c', '{}', parts)
  },
  '10,000 messages by turns': () => ({
    messages: many(10_000, (index) => ({ role: index % 2 ? 'assistant' : 'user', content: 'a'.repeat(300) })),
  }),
  '10,000 messages of one role': () => talk(...many(10_000, () => user('a'.repeat(300)))),
  '25,000 tool calls': () => talk(user('Hi'), calls(...many(25_000, (index) => call(`c${index}`)))),
  'tool arguments of 1,000,000 levels': () => calling('c', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`),
  'tool arguments of 1,000,000 unclosed levels': () => calling('c', '['.repeat(1_000_000)),
  'tool arguments of 150,000 fields': () => calling('c', JSON.stringify(fields(150_000, 1))),
  'tool arguments of 1,000,000 elements': () => calling('c', `{"a":[${'0,'.repeat(1_000_000)}0]}`),
  'a tool call id of 1 MiB of odd characters': () => calling('.'.repeat(MIB), '{}'),
  'a text part of 3 MiB of spaces': () => talk(user([text(' '.repeat(3 * MIB)), text('Hi')])),
  'a message of 3 MiB of spaces': () => talk(user(' '.repeat(3 * MIB))),
  'a message of 3 MiB that begins and ends in spaces': () =>
    talk(user(`${' '.repeat(MIB)}a${' '.repeat(MIB)}a${' '.repeat(MIB)}`)),
  '150,000 unknown fields': () => fields(150_000, 1),
  '150,000 unknown fields of null': () => fields(150_000, null),
  'a field name of 3 MiB': () => ({ ['x'.repeat(3 * MIB)]: 1 }),
  'a logit_bias for 200,000 tokens': () => ({ logit_bias: fields(200_000, 1) }),
  '300,000 stop strings': () => ({ stop: many(300_000, () => 'END') }),
  '1,024 tools of 3 KB': () => ({
    tools: many(1024, (index) => ({
      type: 'function',
      function: { name: `f${index}`, parameters: { properties: fields(150, {}) } },
    })),
  }),
  'a schema of 100,000 properties': () => ({
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { properties: fields(100_000, {}) } } },
  }),
}
