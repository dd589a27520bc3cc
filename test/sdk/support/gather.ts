import type { Chunk } from './answers.ts'

/** The message that a client builds from the chunks of one choice. */
export function gather(chunks: readonly Chunk[], index: number): Record<string, unknown> {
  const parts = chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
  const { tool_calls, ...message } = parts.reduce<Record<string, unknown>>((sum, { delta }) => grow(sum, delta), {})
  const logprobs = parts.flatMap((part) => part.logprobs?.content ?? [])
  return {
    ...message,
    content: message.content ?? null,
    ...(Array.isArray(tool_calls) && { tool_calls: tool_calls.map(({ index: _, ...call }) => call) }),
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: parts.at(-1)?.finish_reason,
  }
}

const NAMES_NOT_TEXT = ['role', 'id', 'type']

/** Text grows, lists grow at the index of their elements, objects field by field. */
function grow(before: object, piece: object): Record<string, unknown> {
  const sum: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries(piece)) {
    const soFar = sum[name]
    if (Array.isArray(value)) sum[name] = growList(Array.isArray(soFar) ? soFar : [], value)
    else if (typeof value === 'object' && value !== null) sum[name] = grow(soFar ?? {}, value)
    else if (typeof soFar === 'string' && !NAMES_NOT_TEXT.includes(name)) sum[name] = soFar + (value ?? '')
    else sum[name] = value ?? soFar
  }
  return sum
}

function growList(before: readonly object[], pieces: readonly { index: number }[]): object[] {
  const list = [...before]
  for (const piece of pieces) list[piece.index] = grow(list[piece.index] ?? {}, piece)
  return list
}
