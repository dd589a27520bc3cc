import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { rejected, unsupported } from '../verdict.ts'
import type { ContentPart, ImageFormat, ImagePart, ImageSource, TextPart } from './turns.ts'

export function readContent(content: unknown, path: string): ContentPart[] {
  return readParts<ContentPart>(content, (part, index) => {
    if (part.type === 'image_url') return readImage(part, `${path}[${index}]`)
    throw notTaken(part, `${path}[${index}]`, 'text and images')
  })
}

export function readTexts(content: unknown, path: string): TextPart[] {
  return readParts<TextPart>(content, (part, index) => {
    throw notTaken(part, `${path}[${index}]`, 'only text')
  })
}

/** OpenAI's clients send blank text beside tool calls; other providers refuse the whole request for it. */
function readParts<Part>(content: unknown, readOther: (part: JsonObject, index: number) => Part): (Part | TextPart)[] {
  return partsOf(content).flatMap((part, index) => {
    const text = textOf(part)
    if (text === undefined) return readOther(part, index)
    return text.trim() === '' ? [] : { kind: 'text', text, cacheMark: markOf(part) }
  })
}

function partsOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

function textOf({ type, text, refusal }: JsonObject): string | undefined {
  const said = type === 'text' ? text : type === 'refusal' ? refusal : undefined
  return typeof said === 'string' ? said : undefined
}

function notTaken({ type }: JsonObject, path: string, taken: string) {
  return unsupported(path, `is of type '${String(type).slice(0, 40)}'; this model takes ${taken} here`)
}

const DATA_URL = /^data:image\/(jpeg|jpg|png|gif|webp);base64,/i
const KINDS = 'an https address or a base64 data: URL of a JPEG, PNG, GIF or WebP image'

function readImage(part: JsonObject, partPath: string): ImagePart {
  const path = `${partPath}.image_url.url`
  const { image_url: image } = part
  const url = isObject(image) ? image.url : image
  if (typeof url !== 'string' || url === '') throw rejected(path, `must be ${KINDS}`)
  return { kind: 'image', source: readSource(url, path), path, cacheMark: markOf(part) }
}

/** OpenAI's mark is one of Anthropic's in the nearest life. */
function markOf({ cache_control: mark, prompt_cache_breakpoint: point }: JsonObject): unknown {
  if (mark !== undefined || !isObject(point)) return mark
  return { type: 'ephemeral', ...(point.ttl === '12h' && { ttl: '1h' }) }
}

function readSource(url: string, path: string): ImageSource {
  if (/^https:\/\//i.test(url)) return { kind: 'address', url }
  const [start, type] = DATA_URL.exec(url) ?? []
  if (start === undefined || type === undefined) throw unsupported(path, `must be ${KINDS} for this model`)
  const base64 = url.slice(start.length)
  if (!isBase64(base64)) throw rejected(path, 'must hold the image in base64')
  return { kind: 'bytes', format: type.toLowerCase().replace('jpg', 'jpeg') as ImageFormat, base64 }
}

/** In one pass: a pattern would backtrack over long runs of spaces, and an image may have any length. */
function isBase64(text: string): boolean {
  try {
    return atob(text) !== ''
  } catch {
    return false
  }
}
