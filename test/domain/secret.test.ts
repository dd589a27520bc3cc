import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { ulid, ulidTimeMs } from '../../layers/gateway/domain/basics/time.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import { isSecret, makeSecret } from '../../layers/gateway/domain/keys/secret-text.ts'

test('a secret has the same length whatever its bytes are', () => {
  const samples = [
    new Uint8Array(32),
    new Uint8Array(32).fill(255),
    ...Array.from({ length: 500 }, () => randomBytes(32)),
  ]
  for (const bytes of samples) {
    const secret = makeSecret('svc_live_', bytes)
    expect(secret).toMatch(/^svc_live_[0-9A-Za-z]{43}$/)
    expect(isSecret('svc_live_', secret)).toBe(true)
  }
})

test('secrets made of different bytes are different', () => {
  const one = new Uint8Array(32)
  const other = new Uint8Array(32)
  other[31] = 1
  expect(makeSecret('p_', one)).not.toBe(makeSecret('p_', other))
})

test('the hash of a secret is its SHA-256', () => {
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('a ULID sorts by time and gives its time back', () => {
  const early = ulid(1_000, randomBytes(10))
  const late = ulid(1_794_708_100_123, randomBytes(10))
  expect(early < late).toBe(true)
  expect(late).toHaveLength(26)
  expect(ulidTimeMs(`req_${late}`)).toBe(1_794_708_100_123)
})
