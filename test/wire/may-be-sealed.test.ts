import { expect, test } from '@jest/globals'
import { packThoughts } from '../../layers/gateway/wire/chat/carried-thoughts.ts'
import { sealedBy } from '../../layers/gateway/wire/chat/sealed-content.ts'
import { readJsonBody } from '../../layers/gateway/wire/requests/read-body.ts'

const read = (body: string) => readJsonBody({ body, isBase64Encoded: false, contentType: 'application/json' }, 'key')

const data = sealedBy('one', 'abc')
const item = (more: object) => JSON.stringify({ model: 'm', input: [more] })

test.each([
  ['sealed content', item({ type: 'reasoning', encrypted_content: data })],
  ['a mark in escapes', item({ encrypted_content: data }).replace('Sealed', '\\u0053ealed')],
  ['a mark with a digit in escapes', item({ encrypted_content: data }).replace('Sealed01', 'Sealed\\u00301')],
  ['packed thoughts', item({ encrypted_content: packThoughts([{ type: 'reasoning.encrypted', data }]) })],
  ['a compaction', item({ type: 'compaction', encrypted_content: 'abc' })],
  ['a trigger of a compaction', item({ type: 'compaction_trigger' })],
  ['a compaction in escapes', item({ type: 'compaction' }).replace('"comp', '"c\\u006fmp')],
])('a request with %s is searched for marks', (_, body) => {
  expect(read(body).mayBeSealed).toBe(true)
})

test('a plain request is not', () => {
  const messages = [{ role: 'user', content: 'What is a compaction, “sealed” or thoughts?' }]
  expect(read(JSON.stringify({ model: 'm', messages })).mayBeSealed).toBe(false)
})
