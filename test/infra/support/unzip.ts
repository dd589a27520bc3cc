import { crc32, inflateRawSync } from 'node:zlib'

/** The files of an archive, read by its directory as other programs do. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== 0x02014b50) throw new Error(`There is no entry at ${at}.`)
    const [sum, packed, size] = [16, 20, 24].map((field) => archive.readUInt32LE(at + field))
    const [nameLength = 0, extra = 0, comment = 0] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field))
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    files.set(name, contentAt(archive, archive.readUInt32LE(at + 42), packed ?? 0))
    const data = files.get(name)
    if (data?.length !== size || crc32(data ?? '') !== sum) throw new Error(`${name} is damaged.`)
    at += 46 + nameLength + extra + comment
  }
  return files
}

function contentAt(archive: Buffer, local: number, packed: number): Buffer {
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  return inflateRawSync(archive.subarray(start, start + packed))
}
