import { fields, MIB, many } from './worst-requests.ts'

// Requests of Messages of up to 4 MiB, each the worst for some loop that reads its blocks.

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'f', input })
const result = (id: string, content: unknown = 'ok') => ({ type: 'tool_result', tool_use_id: id, content })
const thought = () => ({ type: 'thinking', thinking: 'a', signature: 'a'.repeat(100) })
const MARK = { cache_control: { type: 'ephemeral' } }
/** A list in a list, as deep as a body may be nested at that place. */
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])

const talk = (...messages: object[]) => ({ messages })
/** A tool was used so, and this came of it. */
const used = (uses: unknown[], ...results: unknown[]) => talk(user('Hi'), assistant(uses), user(results))
const citedDocument = () => ({
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'a' },
  citations: { enabled: true },
})

/** Each request by its description, made only when it is needed. */
export const WORST_MESSAGES: Readonly<Record<string, () => object>> = {
  '10,000 messages by turns': () => talk(...many(10_000, (index) => (index % 2 ? assistant : user)('a'.repeat(300)))),
  '100,000 blocks in one message': () => talk(user(many(100_000, () => text('a')))),
  '40,000 blocks, each with a cache mark': () => talk(user(many(40_000, () => text('a', MARK)))),
  '60,000 blocks of instructions': () => ({ system: many(60_000, () => text('a')) }),
  '25,000 thoughts in one message': () => talk(user('Hi'), assistant(many(25_000, thought)), user('Hi')),
  '20,000 tools used at once, with their results in the opposite order': () => {
    const uses = many(20_000, (index) => use(`c${index}`))
    return used(uses, ...many(20_000, (index) => result(`c${19_999 - index}`)))
  },
  'a result of a tool of 60,000 blocks': () => {
    const blocks = many(60_000, () => text('a'))
    return used([use('c')], result('c', blocks))
  },
  'an input of a tool of 55 levels': () => used([use('c', { a: nested(55) })], result('c')),
  'an input of a tool of 150,000 fields': () => used([use('c', fields(150_000, 1))], result('c')),
  'an id of a tool of 1 MiB of odd characters': () => used([use('.'.repeat(MIB))], result('.'.repeat(MIB))),
  'a block of 150,000 unknown fields': () => talk(user([text('Hi', fields(150_000, 1))])),
  '150,000 unknown fields': () => fields(150_000, 1),
  '150,000 unknown fields of null': () => fields(150_000, null),
  'metadata of 150,000 fields': () => ({ metadata: fields(150_000, 'a') }),
  '20,000 documents to be cited': () => talk(user(many(20_000, citedDocument))),
}
