import { crc32, inflateRawSync } from 'node:zlib'

const ENTRY = 0x02014b50
const STORED = 0

/** The files of a zip archive, by the entries of its directory. Throws if one is damaged. */
export function readZip(zip: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  let at = zip.readUInt32LE(end + 16)
  while (zip.readUInt32LE(at) === ENTRY) {
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [number, number, number]
    const path = zip.toString('utf8', at + 46, at + 46 + name)
    const local = zip.readUInt32LE(at + 42)
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const data = zip.subarray(begin, begin + zip.readUInt32LE(at + 20))
    const content = zip.readUInt16LE(at + 10) === STORED ? data : inflateRawSync(data)
    const isWhole = content.length === zip.readUInt32LE(at + 24) && crc32(content) === zip.readUInt32LE(at + 16)
    if (!isWhole) throw new Error(`${path} is damaged.`)
    files.set(path, content)
    at += 46 + name + extra + comment
  }
  if (files.size !== zip.readUInt16LE(end + 10)) throw new Error(`There are ${files.size} files.`)
  return files
}
