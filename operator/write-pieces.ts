import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { plainText } from '../layers/gateway/domain/plain-text.ts'

/** Writes pieces as they come, in plain text, no faster than they are read. A reader that has seen enough, such as `head`, ends it. */
export async function writePieces(pieces: AsyncIterable<string>, out: Writable): Promise<void> {
  try {
    await pipeline(Readable.from(plain(pieces)), out, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

async function* plain(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield plainText(piece)
}
