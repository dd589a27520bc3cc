import type { ChatPart, Delta } from '../../domain/chat/chat.ts'
import { isObject, textIn } from '../basics/field-rules.ts'

export function speaks(delta: Delta): boolean {
  for (const name in delta) if (name !== 'role' && !isEmpty(delta[name])) return true
  return false
}

/** True if an answer has begun with this part: it says something, of any kind, or ends. */
export function isAnswer(part: ChatPart): boolean {
  return part.kind === 'choice' && (part.finishReason !== null || speaks(part.delta))
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Audio, images and compactions: their data do not show how many tokens they are. */
export function hasMedia({ audio, images, compaction }: Delta): boolean {
  return !isEmpty(audio) || !isEmpty(images) || !isEmpty(compaction)
}

/** A message in the making. Text grows, tool calls grow by their index, the rest is replaced. */
export class MessageBuilder {
  /** An upstream chose the names: one may be `__proto__`. */
  readonly #fields = new Map<string, unknown>()
  readonly #calls = new Map<unknown, Record<string, unknown>>()

  add(delta: Delta): void {
    for (const [name, value] of Object.entries(delta)) {
      if (value === null || value === undefined) continue
      const soFar = this.#fields.get(name)
      if (name === 'role') this.#fields.set(name, value)
      else if (name === 'tool_calls' && Array.isArray(value)) for (const piece of value) this.#addCall(piece)
      else if (name === 'function_call' && isObject(value)) this.#fields.set(name, grow(soFar, value, 'arguments'))
      else if (name === 'audio' && isObject(value)) this.#fields.set(name, growAudio(soFar, value))
      else if (typeof value === 'string') this.#fields.set(name, textIn(soFar) + value)
      else if (Array.isArray(value) && Array.isArray(soFar)) for (const element of value) soFar.push(element)
      else this.#fields.set(name, Array.isArray(value) ? [...value] : value)
    }
  }

  finish(): Record<string, unknown> {
    const calls = Array.from(this.#calls.values(), ({ index: _, ...call }) => call)
    return {
      role: 'assistant',
      content: null,
      refusal: null,
      ...Object.fromEntries(this.#fields),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
  }

  #addCall(piece: unknown): void {
    if (!isObject(piece)) return
    const existing = this.#calls.get(piece.index)
    if (!existing) {
      this.#calls.set(piece.index, Object.assign(Object.create(null), piece))
      return
    }
    const { function: fn, custom, index: _, ...rest } = piece
    for (const [name, value] of Object.entries(rest)) if (value) existing[name] = value
    if (isObject(fn)) existing.function = grow(existing.function, fn, 'arguments')
    if (isObject(custom)) existing.custom = grow(existing.custom, custom, 'input')
  }
}

/** A function's arguments and a custom tool's input come in pieces; its name comes once. */
function grow(soFar: unknown, piece: Record<string, unknown>, growing: 'arguments' | 'input') {
  const before = isObject(soFar) ? soFar : {}
  return {
    ...before,
    ...piece,
    name: piece.name || before.name,
    [growing]: textIn(before[growing]) + textIn(piece[growing]),
  }
}

function growAudio(soFar: unknown, piece: Record<string, unknown>) {
  const before = isObject(soFar) ? soFar : {}
  return {
    ...before,
    ...piece,
    ...(piece.data !== undefined && { data: textIn(before.data) + textIn(piece.data) }),
    ...(piece.transcript !== undefined && { transcript: textIn(before.transcript) + textIn(piece.transcript) }),
  }
}

export function messageToDelta(message: Record<string, unknown>): Delta {
  const { tool_calls, ...rest } = message
  return Array.isArray(tool_calls)
    ? { ...rest, tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }
    : rest
}

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
    if (name === 'native') said += textIn((value as { readonly said?: unknown } | undefined)?.said)
    else if (THOUGHTS.has(name)) {
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
