import { hash } from 'node:crypto'

/** The HMAC of a text, in hex. */
export type Hmac = (text: string) => string

const BLOCK_BYTES = 64
const HASH_BYTES = 32

/**
 * HMAC-SHA256 (RFC 2104) by a key of at most 64 bytes, as the two hashes that it is. Node's own is a stream with much code of
 * its own: in a function that has waited for some milliseconds it takes 28 µs, and these two, after other hashes, take 9.
 */
export function hmacSha256(key: Uint8Array): Hmac {
  if (key.length > BLOCK_BYTES) throw new RangeError(`A key of ${key.length} bytes would have to be hashed first.`)
  const inner = padded(key, 0x36)
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(HASH_BYTES)])
  return (text) => {
    const bytes = Buffer.allocUnsafe(BLOCK_BYTES + Buffer.byteLength(text))
    inner.copy(bytes)
    bytes.write(text, BLOCK_BYTES)
    outer.write(hash('sha256', bytes), BLOCK_BYTES, 'hex')
    return hash('sha256', outer)
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES, pad)
  for (let i = 0; i < key.length; i++) block[i] = (key[i] as number) ^ pad
  return block
}
