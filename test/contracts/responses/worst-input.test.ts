import { expect, test } from '@jest/globals'
import { readRequest } from '../../../layers/gateway/contracts/responses/read-request.ts'

/** Generous: work that is not linear takes many times as long. */
const LONGEST_MS = 1_500
const MIB = 1024 * 1024

const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))
const text = { type: 'input_text', text: 'a' }
const packed = (json: string) => `thoughts.v1.${Buffer.from(json).toString('base64url')}`
const thought = (encrypted_content: string) => ({ input: [{ type: 'reasoning', summary: [], encrypted_content }] })

const WORST: Readonly<Record<string, () => object>> = {
  '10,000 items of one turn': () => ({ input: many(10_000, () => ({ role: 'assistant', content: [text] })) }),
  '100,000 parts of a thought': () => ({
    input: [{ type: 'reasoning', summary: many(100_000, () => ({ type: 'summary_text', text: 'a' })) }],
  }),
  'a million tools of no type': () => ({ tools: many(1_000_000, () => 0) }),
  'a packed thought of 1,000,000 levels': () => thought(packed('['.repeat(MIB) + ']'.repeat(MIB))),
  'a packed thought of 3 MiB of nothing': () => thought(`thoughts.v1.${' '.repeat(3 * MIB)}`),
  'a packed list of 1,000,000 thoughts': () => thought(packed(JSON.stringify(many(200_000, () => ({}))))),
}

test.each(Object.entries(WORST))('a request for a response with %s is read or refused at once', (_, make) => {
  const value = { model: 'm', input: 'Hi', ...make() }
  const before = process.cpuUsage()
  try {
    readRequest({ value, bytes: 1, callerId: 'key' })
  } catch (error) {
    expect(error).toMatchObject({ kind: 'invalid_request' })
  }
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(LONGEST_MS)
})
