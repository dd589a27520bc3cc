import type { Head } from '../../../../layers/gateway/platform/http/response-head.ts'
import { ResponseParser } from '../../../../layers/gateway/platform/http/response-parser.ts'

export type Parsed = {
  readonly head: Head | undefined
  readonly body: Buffer
  readonly parser: ResponseParser
  /** How often the receiver was told of the end. */
  readonly ends: number
}

/** The reading of these pieces by our parser, which is fed one after the other. Throws as it does. */
export function parse(pieces: Iterable<Buffer>): Parsed {
  const heads: Head[] = []
  const body: Buffer[] = []
  let ends = 0
  const parser = new ResponseParser({
    onHead: (head) => heads.push(head),
    onData: (bytes) => body.push(bytes),
    onEnd: () => {
      ends += 1
    },
  })
  for (const piece of pieces) parser.feed(piece)
  if (heads.length > 1) throw new Error('There came two heads.')
  return { head: heads[0], body: Buffer.concat(body), parser, ends }
}
