import { expect, test } from '@jest/globals'
import { closest } from '../../layers/gateway/wire/basics/closest.ts'
import { openBoth } from '../support/stack.ts'

const { gateway } = await openBoth()

async function ask(body: object) {
  const { status, text, row } = await gateway.ask(body)
  const { error } = JSON.parse(text) as { error: { message: string; param: string; code: string } }
  return { status, ...error, errorCode: row.errorCode }
}

test.each<[string, object, string]>([
  ['a field', { temprature: 1 }, 'Unknown field `temprature`; did you mean `temperature`?'],
  ['two letters that changed places', { max_tokesn: 1 }, 'did you mean `max_tokens`?'],
  [
    'a field of a message',
    { messages: [{ role: 'user', content: 'a', nmae: 'b' }] },
    'Unknown field `messages[0].nmae`; did you mean `name`?',
  ],
  [
    'a field of a part',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_contrl: {} }] }] },
    'Unknown field `messages[0].content[0].cache_contrl`; did you mean `cache_control`?',
  ],
])(
  '%s that is written wrong is a 400 that says what was meant, with the same code in the row',
  async (_, body, says) => {
    const { status, message, code, errorCode } = await ask(body)
    expect([status, code, errorCode]).toEqual([400, 'unknown_parameter', 'unknown_parameter'])
    expect(message).toContain(says)
  },
)

test.each(['tset-model', 'openai/test-model', 'test-model-2024-08-06', 'TEST-MODEL:free', 'test-model-latest'])(
  'the model %s, which is written wrong, is a 404 that says which was meant',
  async (model) => {
    const { status, message } = await ask({ model })
    expect(status).toBe(404)
    expect(message).toContain("Did you mean 'test-model'?")
  },
)

test.each([
  ['x', ['y']],
  ['temperature_of_the_room', ['temperature']],
  ['x'.repeat(1_000_000), ['temperature']],
  ['', ['a']],
])('a name that is like none has no other that it was meant to be', (name, known) => {
  expect(closest(name, known)).toBeUndefined()
})
