import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { arrayOf, either, isObject, object, oneOf, string } from '../../wire/basics/field-rules.ts'
import { nonEmptyText, requireValid } from './require-valid.ts'

/** A block of content in the format of Chat Completions. */
export function innerPart(block: JsonObject, path: string): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [textPart(block, path)]
    case 'image':
      return [imagePart(block, path)]
    case 'document':
      return documentParts(block, path)
    case 'search_result':
      return searchParts(block, path)
    default:
      throw badField(`${path}.type`, 'a block that a message to the model may have', block)
  }
}

export function textPart({ text, cache_control }: JsonObject, path: string): JsonObject {
  requireValid(string, text, `${path}.text`)
  return { type: 'text', text, ...mark(cache_control) }
}

/** A mark up to which a provider is asked to write the prompt to its cache. */
export function mark(cache_control: unknown): JsonObject {
  return isObject(cache_control) ? { cache_control } : {}
}

function imagePart({ source, cache_control }: JsonObject, path: string): JsonObject {
  return { type: 'image_url', image_url: { url: addressOf(source, `${path}.source`) }, ...mark(cache_control) }
}

/** The address of an image or a document, as a URL or as data. */
function addressOf(source: unknown, path: string): string {
  if (!isObject(source)) throw badField(path, "an object of the type 'base64' or 'url'", source)
  requireValid(oneOf('base64', 'url'), source.type, `${path}.type`)
  if (source.type === 'url') {
    requireValid(nonEmptyText, source.url, `${path}.url`)
    return source.url as string
  }
  requireValid(nonEmptyText, source.media_type, `${path}.media_type`)
  requireValid(nonEmptyText, source.data, `${path}.data`)
  return `data:${source.media_type};base64,${source.data}`
}

/** A document whose text is in the request is text; any other is a file. */
function documentParts({ source, title, context, cache_control }: JsonObject, path: string): JsonObject[] {
  const at = `${path}.source`
  if (!isObject(source)) throw badField(at, "an object with a 'type'", source)
  for (const [field, value] of Object.entries({ title, context })) {
    if (value !== undefined && value !== null) requireValid(string, value, `${path}.${field}`)
  }
  const about = [title, context].filter((text): text is string => typeof text === 'string' && text !== '')
  const heading = about.map((text) => ({ type: 'text', text }))
  if (source.type === 'text') {
    requireValid(string, source.data, `${at}.data`)
    return [...heading, { type: 'text', text: source.data, ...mark(cache_control) }]
  }
  if (source.type === 'content') return [...heading, ...contentParts(source.content, `${at}.content`)]
  const file = { filename: about[0] ?? 'document.pdf', file_data: addressOf(source, at) }
  return [{ type: 'file', file, ...mark(cache_control) }]
}

function contentParts(content: unknown, path: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  requireValid(either(string, arrayOf(object)), content, path)
  return (content as JsonObject[]).flatMap((block, index) => {
    requireValid(oneOf('text', 'image'), block.type, `${path}[${index}].type`)
    return innerPart(block, `${path}[${index}]`)
  })
}

function searchParts({ source, title, content, cache_control }: JsonObject, path: string): JsonObject[] {
  requireValid(string, source, `${path}.source`)
  requireValid(string, title, `${path}.title`)
  requireValid(arrayOf(object), content, `${path}.content`)
  const texts = (content as JsonObject[]).map((block, index) => textPart(block, `${path}.content[${index}]`))
  const last = texts.pop()
  return [
    { type: 'text', text: `${title} (${source})` },
    ...texts,
    ...(last ? [{ ...last, ...mark(cache_control) }] : []),
  ]
}
