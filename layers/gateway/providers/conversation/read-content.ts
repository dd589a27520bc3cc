import type { JsonObject } from '../../domain/basics/json-object.ts'
import { unsupported } from '../verdict.ts'
import { readImage } from './read-image.ts'
import type { ContentPart, TextPart } from './turns.ts'

const MAX_TYPE_CHARS = 40

/** Text and images. */
export function readContent(content: unknown, path: string): ContentPart[] {
  const parts: ContentPart[] = []
  for (const [index, part] of partsOf(content).entries()) {
    const text = textOf(part)
    if (text !== undefined) addText(parts, text, part)
    else if (part.type === 'image_url') parts.push(readImage(part, `${path}[${index}]`))
    else throw notTaken(part, `${path}[${index}]`, 'text and images')
  }
  return parts
}

/** The content of instructions and of an assistant's message. */
export function readTexts(content: unknown, path: string): TextPart[] {
  const parts: TextPart[] = []
  for (const [index, part] of partsOf(content).entries()) {
    const text = textOf(part)
    if (text === undefined) throw notTaken(part, `${path}[${index}]`, 'only text')
    addText(parts, text, part)
  }
  return parts
}

function partsOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

function textOf({ type, text, refusal }: JsonObject): string | undefined {
  const said = type === 'text' ? text : type === 'refusal' ? refusal : undefined
  return typeof said === 'string' ? said : undefined
}

/** OpenAI's clients send blank text beside tool calls; other providers refuse the whole request for it. */
function addText(parts: (TextPart | ContentPart)[], text: string, { cache_control: mark }: JsonObject): void {
  if (text.trim() !== '') parts.push({ kind: 'text', text, cacheMark: mark })
}

function notTaken({ type }: JsonObject, path: string, taken: string) {
  return unsupported(path, `is of type '${String(type).slice(0, MAX_TYPE_CHARS)}'; this model takes ${taken} here`)
}
