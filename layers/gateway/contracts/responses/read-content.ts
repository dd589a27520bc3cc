import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { requireText } from './not-taken.ts'

type ReadPart = (part: JsonObject, path: string) => JsonObject

const textPart: ReadPart = (part, path) => {
  if (typeof part.text !== 'string') throw badField(`${path}.text`, 'a string', part.text)
  return { type: 'text', text: part.text }
}

const GIVEN: Readonly<Record<string, ReadPart>> = {
  input_text: textPart,
  input_image: (part, path) => {
    const { detail } = part
    const url = requireText(part, 'image_url', path)
    return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } }
  },
  input_file: (part, path) => {
    const { filename } = part
    const file_data = requireText(part, 'file_data', path)
    return { type: 'file', file: { ...(typeof filename === 'string' && { filename }), file_data } }
  },
  input_audio: (part, path) => {
    if (isObject(part.input_audio)) return { type: 'input_audio', input_audio: part.input_audio }
    throw badField(`${path}.input_audio`, 'an object', part.input_audio)
  },
}

const SAID: Readonly<Record<string, ReadPart>> = {
  output_text: textPart,
  input_text: textPart,
  refusal: (part, path) => {
    if (typeof part.refusal === 'string') return { type: 'refusal', refusal: part.refusal }
    throw badField(`${path}.refusal`, 'a string', part.refusal)
  },
}

/** The input of a model: the content of a message to it, or the output of a tool. */
export function readGiven(content: unknown, path: string): string | JsonObject[] {
  return typeof content === 'string' ? content : readParts(content, path, GIVEN)
}

/** The earlier output of a model. */
export function readSaid(content: unknown, path: string): JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : readParts(content, path, SAID)
}

function readParts(content: unknown, path: string, kinds: Readonly<Record<string, ReadPart>>): JsonObject[] {
  if (!Array.isArray(content)) throw badField(path, 'a string or an array of content parts', content)
  return content.map((part: unknown, index) => {
    const at = `${path}[${index}]`
    const kind = isObject(part) && typeof part.type === 'string' ? part.type : undefined
    const read = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (isObject(part) && read) return read(part, at)
    throw badField(`${at}.type`, Object.keys(kinds), isObject(part) ? part.type : part, part)
  })
}
