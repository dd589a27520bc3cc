import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Writes pieces as they come, no faster than they are read. A reader that has seen enough, such as `head`, ends it. */
export async function writePieces(pieces: AsyncIterable<string>, out: Writable): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), out, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}
