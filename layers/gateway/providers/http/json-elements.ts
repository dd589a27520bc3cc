import type { JsonObject } from '../../domain/basics/json-object.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { parseObject, readPlain } from './json-reply.ts'
import type { Reply } from './post.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The depth at which the elements of a top-level list are: in the answer, and in the list. */
const IN_LIST = 2
const MAX_REST_BYTES = 1024 * 1024
const PLACEHOLDER = Buffer.from('null')

/** Reads the objects of a top-level list one at a time, so that only one is in memory as text; returns the rest. */
export async function readElements(
  { body }: Reply,
  mostElementBytes: number,
  take: (element: JsonObject) => void,
): Promise<JsonObject> {
  const rest = new Bytes(MAX_REST_BYTES)
  const element = new Bytes(mostElementBytes)
  let depth = 0
  let isText = false
  let isEscaped = false
  let isElement = false
  try {
    for (let chunk = await readPlain(body); chunk; chunk = await readPlain(body)) feed(chunk)
  } finally {
    body.close()
  }
  return parseObject(rest.takeText()).object

  function feed(chunk: Buffer): void {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
      } else if (byte === QUOTE) isText = true
      else if (byte === OPEN_LIST) depth += 1
      else if (byte === CLOSE_LIST) depth -= 1
      else if (byte === OPEN_OBJECT) {
        if (depth === IN_LIST && !isElement) {
          rest.add(chunk.subarray(from, at))
          rest.add(PLACEHOLDER)
          from = at
          isElement = true
        }
        depth += 1
      } else if (byte === CLOSE_OBJECT) {
        depth -= 1
        if (depth === IN_LIST && isElement) {
          element.add(chunk.subarray(from, at + 1))
          take(parseObject(element.takeText()).object)
          from = at + 1
          isElement = false
        }
      }
    }
    const kept = isElement ? element : rest
    kept.add(chunk.subarray(from))
  }
}

/** Collects the bytes of a text, with a bound. One buffer serves all texts, so that none is left as garbage. */
class Bytes {
  readonly #place: Buffer
  #size = 0

  constructor(most: number) {
    this.#place = Buffer.allocUnsafeSlow(most)
  }

  add(chunk: Buffer): void {
    const most = this.#place.length
    if (this.#size + chunk.length > most) {
      throw new UpstreamFailure('runaway', `The upstream sent more than ${most} bytes at once.`)
    }
    chunk.copy(this.#place, this.#size)
    this.#size += chunk.length
  }

  takeText(): string {
    const text = this.#place.toString('utf8', 0, this.#size)
    this.#size = 0
    return text
  }
}
