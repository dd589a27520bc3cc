import type { Delta } from '../../domain/chat/chat.ts'
import { isObject } from '../basics/field-rules.ts'

/** Upstreams put a thought in one of these fields, or the same thought in several. */
const THOUGHTS = new Set(['reasoning_content', 'reasoning', 'reasoning_details', 'thinking', 'thinking_blocks'])

/** Fields whose text may be inside lists and objects. */
const SAID_INSIDE = new Set(['content', 'refusal', 'tool_calls', 'function_call'])

/** Names, signatures, encrypted thoughts and quotations were not generated word by word. */
const NOT_SAID = new Set([
  ...['role', 'type', 'id', 'index', 'format', 'signature', 'thought_signature', 'data'],
  ...['audio', 'images', 'citations', 'annotations', 'extra_content', 'provider_specific_fields'],
])

export function textOf(delta: Delta): string {
  let said = ''
  let thought = ''
  for (const name in delta) {
    const value = delta[name]
    if (THOUGHTS.has(name)) {
      const text = textInside(value)
      if (text.length > thought.length) thought = text
    } else if (isSaid(name, value)) said += textInside(value)
  }
  return thought + said
}

/** A delta with the first `chars` characters of its text. Fields that are no text are left out, except the role. */
export function cutDelta(delta: Delta, chars: number): Delta {
  const thoughts = Object.entries(delta).filter(([name]) => THOUGHTS.has(name))
  const thought = thoughts.reduce((longest, [, value]) => Math.max(longest, textInside(value).length), 0)
  const cutWords = cutter(chars - thought)
  return Object.fromEntries(
    Object.entries(delta).flatMap(([name, value]): [string, unknown][] => {
      if (THOUGHTS.has(name)) return [[name, cutter(chars)(value)]]
      if (isSaid(name, value)) return [[name, cutWords(value)]]
      return name === 'role' ? [[name, value]] : []
    }),
  )
}

/** Text in an unknown field is text. */
function isSaid(name: string, value: unknown): boolean {
  return typeof value === 'string' ? !NOT_SAID.has(name) : SAID_INSIDE.has(name)
}

function textInside(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textInside).join('')
  if (!isObject(value)) return ''
  let text = ''
  for (const name in value) if (!NOT_SAID.has(name)) text += textInside(value[name])
  return text
}

/** Keeps the first `chars` characters of the texts that it is given, in the order of `textInside`. */
function cutter(chars: number): (value: unknown) => unknown {
  let left = Math.max(0, chars)
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const kept = value.slice(0, left)
      left -= kept.length
      return kept
    }
    if (Array.isArray(value)) return value.map(cut)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, NOT_SAID.has(name) ? field : cut(field)]),
    )
  }
  return cut
}
