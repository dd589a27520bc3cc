import { crc32, deflateRawSync } from 'node:zlib'

export type Entry = { readonly name: string; readonly data: Buffer }

const VERSION = 20
const UTF8_NAMES = 0x0800
const DEFLATED = 8
/** The first day that the format knows, so that the same files always make the same archive. */
const DATE = 0x0021
/** A file that everybody may read: Lambda runs the code as another user. */
const MODE = (0o100644 << 16) >>> 0
const MADE_BY_UNIX = 0x0314

/** An archive of these files, by PKWARE's APPNOTE.TXT 4.3; for less than 4 GiB and 65,536 files. */
export function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data } of entries) {
    const [path, packed] = [Buffer.from(name), deflateRawSync(data, { level: 9 })]
    const facts = words(2, UTF8_NAMES, DEFLATED, 0, DATE)
    const sizes = Buffer.concat([words(4, crc32(data), packed.length, data.length), words(2, path.length, 0)])
    const local = Buffer.concat([words(4, 0x04034b50), words(2, VERSION), facts, sizes, path, packed])
    const rest = Buffer.concat([words(2, 0, 0, 0), words(4, MODE, offset)])
    directory.push(Buffer.concat([words(4, 0x02014b50), words(2, MADE_BY_UNIX, VERSION), facts, sizes, rest, path]))
    parts.push(local)
    offset += local.length
  }
  const index = Buffer.concat(directory)
  const count = entries.length
  const end = [words(4, 0x06054b50), words(2, 0, 0, count, count), words(4, index.length, offset), words(2, 0)]
  return Buffer.concat([...parts, index, ...end])
}

function words(bytes: 2 | 4, ...values: number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length)
  for (const [index, value] of values.entries()) buffer.writeUIntLE(value, index * bytes, bytes)
  return buffer
}
