import { MAX_DEPTH } from '../../domain/basics/json-fault.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { MAX_WHOLE_BYTES } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import type { Reply, ReplyBody } from './post.ts'

export function isJson({ contentType }: Reply): boolean {
  return /^application\/json\b/i.test(contentType)
}

/** Not a promise if all of it has come. */
export function readJson({ body }: Reply): Parsed | Promise<Parsed> {
  const text = readAll(body, MAX_WHOLE_BYTES)
  return typeof text === 'string' ? parseObject(text) : text.then(parseObject)
}

/** `isCut`: values that were nested too deeply are left out. */
export type Parsed = { readonly object: JsonObject; readonly isCut: boolean }

/** A shorter text cannot be nested deeply enough to do harm, so the chunks of a stream are not checked. */
const DEEP_CHARS = 4 * 1024

export function parseObject(text: string): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new UpstreamFailure('protocol', 'The upstream sent something that is not JSON.', {}, { cause })
  }
  if (!isObject(value)) throw new UpstreamFailure('protocol', 'The upstream sent JSON that is not an object.')
  return { object: value, isCut: text.length > DEEP_CHARS && cutDeep(value, MAX_DEPTH) }
}

/** Empties what is nested deeper than this many levels. True if there was any. */
function cutDeep(value: Record<string, unknown>, levels: number): boolean {
  let isCut = false
  for (const name in value) {
    const inner = value[name]
    if (typeof inner !== 'object' || inner === null) continue
    if (levels === 1) {
      value[name] = null
      isCut = true
    } else if (cutDeep(inner as Record<string, unknown>, levels - 1)) isCut = true
  }
  return isCut
}

export function tooDeep(): UpstreamFailure {
  return new UpstreamFailure('protocol', `The upstream sent JSON nested more than ${MAX_DEPTH} levels deep.`)
}

export function readAll(body: ReplyBody, most: number): string | Promise<string> {
  const whole = body.takeWhole()
  if (!whole) return gather(body, most)
  body.close()
  requireSize(whole.length, most)
  return whole.toString('utf8')
}

async function gather(body: ReplyBody, most: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for (let chunk = await readPlain(body); chunk; chunk = await readPlain(body)) {
      size += chunk.length
      requireSize(size, most)
      chunks.push(chunk)
    }
  } finally {
    body.close()
  }
  return Buffer.concat(chunks).toString('utf8')
}

const BLANKS = new Set(Buffer.from(' \t\r\n'))

/** The next bytes of a reply that comes whole. Some upstreams send blank lines before it. */
export async function readPlain(body: ReplyBody): Promise<Buffer | undefined> {
  const bytes = await body.read()
  if (bytes?.some((byte) => !BLANKS.has(byte))) body.startIdleClock()
  return bytes
}

function requireSize(bytes: number, most: number): void {
  if (bytes > most) throw new UpstreamFailure('runaway', `The upstream sent more than ${most} bytes at once.`)
}
