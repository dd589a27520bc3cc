import type { ChatBody } from '../../domain/chat/chat.ts'
import type { Prompt } from '../../domain/chat/embedding.ts'
import { badField } from '../basics/field-rules.ts'
import { type Shape, shaped } from '../basics/shape.ts'

/** A row for such a field, each of whose elements `readPrompts` checks. */
export function promptShape(maxItems: number, minLength = 0): Shape {
  const text = { type: 'string', minLength }
  const ids = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 }
  const many = (items: object) => ({ type: 'array', items, minItems: 1, maxItems })
  return shaped({ anyOf: [text, many(text), ids, many(ids)] }, (sent) => sent ?? undefined)
}

/** OpenAI's four ways to write one prompt or several: a text, texts, token ids, lists of token ids. */
export function readPrompts(field: string, value: unknown, most: number, raw: ChatBody): readonly Prompt[] {
  if (typeof value === 'string') return [value]
  const forms = 'a string, an array of strings, an array of token ids or an array of such arrays'
  if (!Array.isArray(value)) throw badField(field, forms, value, raw)
  if (value.length === 0) throw badField(field, `${forms}, and not be empty`, value)
  if (typeof value[0] === 'number') return [requireTokens(field, value)]
  if (value.length > most) throw badField(field, `an array of at most ${most} elements`, value)
  const areTexts = typeof value[0] === 'string'
  for (let i = 0; i < value.length; i++) {
    const path = `${field}[${i}]`
    if (areTexts && typeof value[i] !== 'string') throw badField(path, 'a string, as the first element is', value[i])
    if (!areTexts) requireTokens(path, value[i])
  }
  return value
}

function requireTokens(path: string, value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length === 0) throw badField(path, 'a string or an array of token ids', value)
  const wrong = value.findIndex((id) => !Number.isSafeInteger(id) || id < 0)
  if (wrong >= 0) throw badField(`${path}[${wrong}]`, 'a token id: an integer of at least 0', value[wrong])
  return value
}
