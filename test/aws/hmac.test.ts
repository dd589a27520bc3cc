import { createHmac, randomBytes, randomInt } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { hmacSha256 } from '../../layers/gateway/aws/hmac.ts'

test.each([
  ['0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    Buffer.from('Jefe').toString('hex'),
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
])('an example of RFC 4231: key %s', (key, text, hmac) => {
  expect(hmacSha256(Buffer.from(key, 'hex'))(text)).toBe(hmac)
})

test('it is the HMAC that OpenSSL makes, for keys and texts of any length', () => {
  for (let i = 0; i < 500; i++) {
    const key = randomBytes(randomInt(0, 65))
    const hmac = hmacSha256(key)
    for (let j = 0; j < 3; j++) {
      const text = '§ä€ a'.repeat(randomInt(0, 60)) + randomBytes(randomInt(0, 80)).toString('latin1')
      expect(hmac(text)).toBe(createHmac('sha256', key).update(text).digest('hex'))
    }
  }
})

test('a key that is longer than a block is refused, not used in another way than others use it', () => {
  expect(() => hmacSha256(Buffer.alloc(65))).toThrow(RangeError)
})
