import { expect, test } from '@jest/globals'
import { CAP, type ChatContract, type Dialect, openDialects } from './every-dialect.ts'

/** A name that no other key can have. */
export const ALIAS = expect.stringMatching(/^[\w-]{43}$/)

const HELLO = { role: 'user', content: 'Hello' }
const CHAT = { model: 'm', stream: false, messages: [HELLO] }

const RESPONSE = {
  model: 'm',
  stream: false,
  store: false,
  include: ['reasoning.encrypted_content'],
  max_output_tokens: CAP,
  input: [{ type: 'message', ...HELLO }],
}

/** All that each dialect is sent for the smallest request. */
const SMALLEST: Readonly<Record<Dialect, object>> = {
  chat: { ...CHAT, max_tokens: CAP },
  openai: { ...CHAT, max_completion_tokens: CAP },
  responses: RESPONSE,
  signed: RESPONSE,
  anthropic: {
    model: 'm',
    stream: false,
    max_tokens: CAP,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  },
  bedrock: { messages: [{ role: 'user', content: [{ text: 'Hello' }] }], inferenceConfig: { maxTokens: CAP } },
}

/** The same where the upstream speaks the caller's own words. */
const NATIVE: Partial<Readonly<Record<ChatContract, Partial<Record<Dialect, object>>>>> = {
  messages: { anthropic: { messages: [HELLO] } },
  responses: { responses: { input: 'Hello' }, signed: { input: 'Hello' } },
}

/** A request, and what it changes of all that a dialect is sent. */
type Translation = readonly [asked: object, sent: Partial<Record<Dialect, object>>]

/** A test for each of these requests through a contract. */
export function testSent(contract: ChatContract, translations: Readonly<Record<string, Translation>>): void {
  const opened = openDialects()
  test.each(Object.entries(translations))(`through ${contract} %s`, async (_, [asked, sent]) => {
    const { ask } = await opened
    for (const [name, changes] of Object.entries(sent)) {
      const dialect = name as Dialect
      const { status, answer, ...told } = await ask(contract, dialect, asked)
      expect([dialect, status, status === 200 || answer]).toEqual([dialect, 200, true])
      const expected = { ...SMALLEST[dialect], ...NATIVE[contract]?.[dialect], ...changes }
      expect([dialect, told.sent]).toEqual([dialect, expected])
    }
  })
}
