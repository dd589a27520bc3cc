import type { JsonObject } from '../domain/basics/json-object.ts'
import { gainedBytes } from '../domain/basics/normal-forms.ts'
import type { ChatRequest } from '../domain/chat/chat.ts'
import { textBound } from '../domain/money/priced-request.ts'
import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'

/** The fields of a request that contain nothing of the caller's. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'modelId', 'stream', 'stream_options', 'store', 'include', 'inferenceConfig'],
])

/** Names of fields that contain a medium, or the address of one. */
const MEDIA: ReadonlySet<string> = new Set([
  ...['url', 'image_url', 'audio_url', 'video_url', 'file_url', 'file_data', 'bytes'],
])

/** Names of objects with JSON of the caller's own: a schema, the input of a tool. An address in them is text. */
export const OWN_JSON: ReadonlySet<string> = new Set([
  ...['input', 'input_schema', 'parameters', 'schema', 'json', 'guided_json', 'json_schema'],
])

/**
 * Refuses a request that is more than was held for, in any dialect, before anything is sent or joined to one string:
 * its names, texts and numbers must not be longer than the body that came, with its spare, and its media not more.
 */
export function requireHeld<Request extends object>(request: Request, chat: ChatRequest): Request {
  const { image, audio, video, file, any } = chat.media
  const left = { bytes: textBound(chat), media: image + audio + video + file + any }
  for (const [name, value] of Object.entries(request)) if (!OURS.has(name)) take(name, value, left)
  return request
}

type Left = { bytes: number; media: number }

function take(name: string, value: unknown, left: Left, isOwn = false): void {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    left.bytes -= typeof value === 'string' ? mostBytes(value) : value.length
    if (!isOwn && MEDIA.has(name)) left.media -= 1
  } else if (typeof value === 'number') left.bytes -= String(value).length
  else if (Array.isArray(value)) for (const element of value) take('', element, left, isOwn)
  else if (typeof value === 'object' && value !== null) takeFields(name, value as JsonObject, left, isOwn)
  if (left.bytes < 0 || left.media < 0) throw tooMuch()
}

function takeFields(of: string, fields: JsonObject, left: Left, isOwn: boolean): void {
  for (const name in fields) {
    left.bytes -= mostBytes(name)
    take(name, fields[name], left, isOwn || OWN_JSON.has(of))
  }
}

function mostBytes(text: string): number {
  return Buffer.byteLength(text) + gainedBytes(text)
}

function tooMuch(): UpstreamFailure {
  const message =
    "The request would become longer on its way to this model's provider than it came, and more than is held for it. Send calls, results and thoughts as they were in the answers."
  return new UpstreamFailure('rejected', message)
}
