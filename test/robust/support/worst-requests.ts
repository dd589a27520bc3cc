// Requests of up to 4 MiB, each the worst for some pattern or loop that reads it.

export const MIB = 1024 * 1024

const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const image = (data: string) => ({
  messages: [user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }])],
})
const calling = (id: string, args: string) => ({
  messages: [
    user('Hi'),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: args } }],
    },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ],
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
  'an image address of 3 MiB': () => ({
    messages: [user([{ type: 'image_url', image_url: { url: `data:${'image/'.repeat(MIB / 2)}` } }])],
  }),
  '140,000 parts in one message': () => ({ messages: [user(many(140_000, () => text('a')))] }),
  '140,000 parts that join the message before': () => ({ messages: [user('a'), user(many(140_000, () => text('a')))] }),
  '100,000 parts of instructions': () => ({
    messages: [{ role: 'system', content: many(100_000, () => text('a')) }, user('Hi')],
  }),
  '50,000 parts, each with a cache mark': () => ({ messages: [user(many(50_000, () => text('a', MARK)))] }),
  '100,000 parts of the result of a tool': () => ({
    messages: [
      ...(calling('c', '{}').messages.slice(0, 2) as object[]),
      { role: 'tool', tool_call_id: 'c', content: many(100_000, () => text('a')) },
    ],
  }),
  '10,000 messages by turns': () => ({
    messages: many(10_000, (index) => ({ role: index % 2 ? 'assistant' : 'user', content: 'a'.repeat(300) })),
  }),
  '10,000 messages of one role': () => ({ messages: many(10_000, () => user('a'.repeat(300))) }),
  '25,000 tool calls': () => ({
    messages: [
      user('Hi'),
      {
        role: 'assistant',
        content: null,
        tool_calls: many(25_000, (index) => ({ id: `c${index}`, type: 'function', function: { name: 'f' } })),
      },
    ],
  }),
  'tool arguments of 1,000,000 levels': () => calling('c', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`),
  'tool arguments of 1,000,000 unclosed levels': () => calling('c', '['.repeat(1_000_000)),
  'tool arguments of 150,000 fields': () => calling('c', JSON.stringify(fields(150_000, 1))),
  'tool arguments of 1,000,000 elements': () => calling('c', `{"a":[${'0,'.repeat(1_000_000)}0]}`),
  'a tool call id of 1 MiB of odd characters': () => calling('.'.repeat(MIB), '{}'),
  'a text part of 3 MiB of spaces': () => ({ messages: [user([text(' '.repeat(3 * MIB)), text('Hi')])] }),
  'a message of 3 MiB of spaces': () => ({ messages: [user(' '.repeat(3 * MIB))] }),
  'a message of 3 MiB that begins and ends in spaces': () => ({
    messages: [user(`${' '.repeat(MIB)}a${' '.repeat(MIB)}a${' '.repeat(MIB)}`)],
  }),
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
