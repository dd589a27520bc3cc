import { UpstreamFailure } from '../domain/upstream-failure.ts'

export async function readAll(bytes: AsyncIterable<Buffer>, most: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > most) throw new UpstreamFailure('protocol', `The upstream sent more than ${most} bytes at once.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
