import { type JsonObject, parseJson } from '../../domain/basics/json-object.ts'
import type { ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'

export function choiceOf(delta: Delta, logprobs: unknown = null): ChoicePart {
  return { kind: 'choice', index: 0, delta, logprobs, finishReason: null }
}

export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function brokenOff(): UpstreamFailure {
  return new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
}

/** Signatures and redacted thoughts are for Claude alone, which gets them back with the next request. */
export function signature(text: string, index: unknown): ChoicePart {
  return thoughtOf({ type: 'reasoning.text', signature: text }, index)
}

export function redactedThought(data: string, index: unknown): ChoicePart {
  return thoughtOf({ type: 'reasoning.encrypted', data }, index)
}

function thoughtOf(detail: JsonObject, index: unknown): ChoicePart {
  return choiceOf({ reasoning_details: [{ ...detail, format: THOUGHT_FORMATS.claude, index }] })
}

/** The calls of tools in an answer of blocks. Blocks are numbered including those of text, calls are not. */
export class ToolCalls {
  readonly #byBlock = new Map<unknown, { readonly index: number; readonly isCustom: boolean; json: string }>()
  readonly #custom: ReadonlySet<unknown>

  /** `custom`: the names of custom tools, whose input is text and comes here as the one field of an object. */
  constructor(custom: ReadonlySet<unknown>) {
    this.#custom = custom
  }

  get blocks(): Iterable<unknown> {
    return this.#byBlock.keys()
  }

  get isEmpty(): boolean {
    return this.#byBlock.size === 0
  }

  /** `native` has fields that only the caller's own API format knows. */
  begin(block: unknown, id: unknown, name: unknown, native?: JsonObject): ChoicePart {
    const index = this.#byBlock.size
    const isCustom = this.#custom.has(name)
    this.#byBlock.set(block, { index, isCustom, json: '' })
    if (isCustom) return choiceOf({ tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] })
    return choiceOf({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...(native && { native }) }],
    })
  }

  add(block: unknown, piece: string): ChoicePart[] {
    const call = this.#byBlock.get(block)
    if (!call) return []
    call.json += piece
    if (call.isCustom) return []
    return [choiceOf({ tool_calls: [{ index: call.index, function: { arguments: piece } }] })]
  }

  /** A tool without parameters is called without arguments; clients parse them all the same. */
  end(block: unknown): ChoicePart[] {
    const call = this.#byBlock.get(block)
    if (!call) return []
    if (!call.isCustom) return call.json === '' ? this.add(block, '{}') : []
    const { input } = fieldsOf(parseJson(call.json))
    const text = isText(input) ? input : call.json
    return text === '' ? [] : [choiceOf({ tool_calls: [{ index: call.index, custom: { input: text } }] })]
  }
}
