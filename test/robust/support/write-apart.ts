import type { ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import type { Reply } from '../../support/upstream.ts'

/** Writes these pieces so that each one arrives by itself: the other side, in this process, reads in between. */
export async function writeApart(response: ServerResponse, pieces: Iterable<Uint8Array>): Promise<void> {
  for (const piece of pieces) {
    if (piece.length === 0) continue
    await new Promise<void>((resolve) => response.write(piece, () => resolve()))
    await turn()
    await turn()
  }
}

/** An event stream of exactly these bytes, in these pieces. */
export function inPieces(pieces: () => Iterable<Uint8Array>): Reply {
  return async (response) => {
    response.socket?.setNoDelay(true)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    await writeApart(response, pieces())
    response.end()
  }
}

/** Writes on and on, at the pace of the other side, until it has gone or there is no more. */
export async function writeOn(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return
    if (response.write(piece)) continue
    await new Promise<void>((resolve) => {
      const proceed = () => {
        response.off('drain', proceed)
        response.off('close', proceed)
        resolve()
      }
      response.once('drain', proceed)
      response.once('close', proceed)
    })
  }
}
