import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatPart } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'
import { namespacedName } from '../../wire/chat/namespaced-name.ts'
import { NATIVE_ITEMS } from '../../wire/chat/native-items.ts'
import { toOpenAiUsage, withCalls } from '../../wire/money/usage-counts.ts'
import { brokenOff, choiceOf, fieldsOf } from '../conversation/answer-parts.ts'
import { errorInAnswer } from '../http/error-in-answer.ts'
import type { EventReader } from '../http/server-sent-events.ts'
import { HostedItems } from './hosted-items.ts'

/** An output item that has begun. Content that came by an event is not repeated at its end. */
type Item = {
  /** True for an item that only the Responses API has: its events are carried unchanged. */
  readonly isNative: boolean
  readonly call?: { readonly index: number; readonly kind: 'function' | 'custom' }
  readonly id: unknown
  readonly phase: unknown
  hasSpoken: boolean
  annotations: number
  isDone: boolean
}

const FORMAT = THOUGHT_FORMATS.openai
const CALL_DELTAS = new Set<unknown>([
  ...['response.function_call_arguments.delta', 'response.custom_tool_call_input.delta'],
])
const ENDS = new Set<unknown>(['response.completed', 'response.incomplete'])

export class ResponsesEvents implements EventReader {
  readonly #key: string | undefined
  readonly #isNative: boolean
  readonly #items = new Map<unknown, Item>()
  #calls = 0
  /** Summaries and signatures, each with an index of its own. */
  #details = 0
  readonly #hosted = new HostedItems()
  #summary: unknown
  isWhole = false

  /** `key` is the provider's, which providers quote in their errors. `isNative`: the caller uses the Responses API, too. */
  constructor(key: string | undefined, isNative: boolean) {
    this.#key = key
    this.#isNative = isNative
  }

  take(event: JsonObject, parts: ChatPart[]): void {
    const { type, delta, output_index: place, item, response } = event
    if (type === ADDED) this.#begin(place, fieldsOf(item), parts)
    else if (type === 'response.output_text.delta') this.#say(place, 'content', delta, parts, event.logprobs)
    else if (type === 'response.refusal.delta') this.#say(place, 'refusal', delta, parts)
    else if (type === 'response.reasoning_summary_text.delta') this.#think(place, delta, event.summary_index, parts)
    else if (type === 'response.reasoning_text.delta') this.#think(place, delta, `${event.content_index} spoken`, parts)
    else if (type === 'response.output_text.annotation.added') this.#annotate(place, [event.annotation], parts)
    else if (CALL_DELTAS.has(type)) this.#continue(place, delta, parts)
    else if (type === 'response.output_item.done') this.#end(place, fieldsOf(item), parts)
    else if (this.#items.get(place)?.isNative) this.#carry(place, event, parts)
    else if (ENDS.has(type)) this.#finish(fieldsOf(response), parts)
    else if (type === 'response.failed' || type === 'response.cancelled') this.#fail(fieldsOf(response), parts)
    else if (type === 'error') parts.push({ kind: 'fault', failure: errorInAnswer(event.error ?? event, this.#key) })
  }

  end(): void {
    if (this.#items.size > 0) throw brokenOff()
  }

  #begin(place: unknown, item: JsonObject, parts: ChatPart[]): Item {
    const known = this.#items.get(place)
    if (known) return known
    const kind = item.type === 'function_call' ? 'function' : item.type === 'custom_tool_call' ? 'custom' : undefined
    const begun: Item = {
      isNative: this.#isNative && NATIVE_ITEMS.has(item.type),
      ...(kind && { call: { index: this.#calls, kind } }),
      id: item.id,
      phase: item.phase,
      hasSpoken: false,
      annotations: 0,
      isDone: false,
    }
    this.#items.set(place, begun)
    if (begun.isNative) parts.push(nativePart({ type: ADDED, output_index: place, item }, ''))
    if (!kind) return begun
    this.#calls += 1
    const name = namespacedName(item.namespace, isText(item.name) ? item.name : '')
    const said = kind === 'custom' ? { custom: { name, input: '' } } : { function: { name, arguments: '' } }
    parts.push(choiceOf({ tool_calls: [{ index: begun.call?.index, id: item.call_id, type: kind, ...said }] }))
    return begun
  }

  #say(place: unknown, field: 'content' | 'refusal', text: unknown, parts: ChatPart[], logprobs?: unknown): void {
    if (!isText(text)) return
    const item = this.#begin(place, {}, parts)
    const told = Array.isArray(logprobs) && logprobs.length > 0 ? { content: logprobs, refusal: null } : null
    // With its first text a message begins: one of commentary may stand before the final one.
    const message = this.#isNative && !item.hasSpoken && { message: { phase: item.phase } }
    item.hasSpoken = true
    parts.push(choiceOf({ [field]: text, ...message }, told))
  }

  /** The parts of a summary become paragraphs of one text. */
  #think(place: unknown, text: unknown, part: unknown, parts: ChatPart[]): void {
    if (!isText(text)) return
    const item = this.#begin(place, {}, parts)
    const summary = `${place} ${part}`
    const isNext = this.#summary !== summary
    if (isNext) this.#details += 1
    this.#summary = summary
    // A model's own words of thought, and not their summary.
    const isSpoken = String(part).endsWith(' spoken')
    const said = isSpoken ? { type: 'reasoning.text', text } : { type: 'reasoning.summary', summary: text }
    const detail = { ...said, ...idOf(item), format: FORMAT, index: this.#details - 1 }
    const reasoning_content = isNext && item.hasSpoken ? `\n\n${text}` : text
    item.hasSpoken = true
    parts.push(choiceOf({ reasoning_content, reasoning_details: [detail] }))
  }

  #continue(place: unknown, piece: unknown, parts: ChatPart[]): void {
    const item = this.#items.get(place)
    if (!item?.call || !isText(piece)) return
    item.hasSpoken = true
    const { index, kind } = item.call
    const said = kind === 'custom' ? { custom: { input: piece } } : { function: { arguments: piece } }
    parts.push(choiceOf({ tool_calls: [{ index, ...said }] }))
  }

  /** Some upstreams, and whole answers, send an item all at once. */
  #end(place: unknown, item: JsonObject, parts: ChatPart[]): void {
    const begun = this.#begin(place, item, parts)
    if (begun.isDone) return
    begun.isDone = true
    // Told at once: a stream may break off before its usage.
    if (this.#hosted.take(item)) parts.push({ kind: 'usage', usage: withCalls({}, this.#hosted.counts) })
    if (begun.isNative) {
      const said = begun.hasSpoken ? '' : generatedIn(item)
      parts.push(nativePart({ type: 'response.output_item.done', output_index: place, item }, said))
      return
    }
    if (!begun.hasSpoken) this.#sayAll(place, item, parts)
    const cited = listOf(item.content).flatMap(({ annotations }) => listOf(annotations))
    this.#annotate(place, cited.slice(begun.annotations), parts)
    if (item.type !== 'reasoning' || !isText(item.encrypted_content)) return
    const detail = { type: 'reasoning.encrypted', data: item.encrypted_content, ...idOf(item), format: FORMAT }
    parts.push(choiceOf({ reasoning_details: [{ ...detail, index: this.#details }] }))
    this.#details += 1
  }

  /** Some upstreams send no event of an annotation: then it comes with the end of its item. */
  #annotate(place: unknown, annotations: readonly unknown[], parts: ChatPart[]): void {
    if (annotations.length === 0) return
    this.#begin(place, {}, parts).annotations += annotations.length
    parts.push(annotationsOf(annotations))
  }

  #carry(place: unknown, event: JsonObject, parts: ChatPart[]): void {
    const said = isText(event.delta) && !RESULTS.test(String(event.type)) ? event.delta : ''
    const item = this.#items.get(place)
    if (item && said !== '') item.hasSpoken = true
    parts.push(nativePart(event, said))
  }

  #sayAll(place: unknown, item: JsonObject, parts: ChatPart[]): void {
    if (item.type === 'function_call') this.#continue(place, item.arguments, parts)
    if (item.type === 'custom_tool_call') this.#continue(place, item.input, parts)
    for (const [at, part] of listOf(item.summary).entries()) this.#think(place, part.text, at, parts)
    for (const [at, part] of listOf(item.content).entries()) {
      if (part.type === 'output_text') this.#say(place, 'content', part.text, parts, part.logprobs)
      if (part.type === 'refusal') this.#say(place, 'refusal', part.refusal, parts)
      if (part.type === 'reasoning_text') this.#think(place, part.text, `${at} spoken`, parts)
    }
  }

  #finish(response: JsonObject, parts: ChatPart[]): void {
    for (const [place, item] of listOf(response.output).entries()) this.#end(place, item, parts)
    this.isWhole = true
    parts.push({ ...choiceOf({}), finishReason: this.#finishReason(response), serviceTier: response.service_tier })
    this.#report(response, parts)
  }

  #fail(response: JsonObject, parts: ChatPart[]): void {
    this.#report(response, parts)
    parts.push({ kind: 'fault', failure: errorInAnswer(response.error, this.#key) })
  }

  #report({ usage, service_tier: serviceTier }: JsonObject, parts: ChatPart[]): void {
    if (!isObject(usage)) return
    parts.push({ kind: 'usage', usage: withCalls(toOpenAiUsage(usage), this.#hosted.counts), serviceTier })
  }

  #finishReason({ status, incomplete_details: details }: JsonObject): string {
    const { reason } = fieldsOf(details)
    if (reason === 'content_filter') return 'content_filter'
    if (status === 'incomplete') return 'length'
    return this.#calls > 0 ? 'tool_calls' : 'stop'
  }
}

/** The parts of a Response that came whole. One without a status is taken for a completed one. */
export function readResponse(response: JsonObject, key: string | undefined, isNative: boolean): ChatPart[] {
  const { status = 'completed', error } = response
  const isEnd = !error && (status === 'completed' || status === 'incomplete') && Array.isArray(response.output)
  const parts: ChatPart[] = []
  new ResponsesEvents(key, isNative).take({ type: isEnd ? 'response.completed' : 'response.failed', response }, parts)
  return parts
}

const ADDED = 'response.output_item.added'
/** Events with the results of tools, which the model did not generate. */
const RESULTS = /output|partial/

/** An event of the provider's, for a caller of the same API format, and the text in it that the model generated. */
function nativePart({ sequence_number: _, ...event }: JsonObject, said: string): ChatPart {
  return choiceOf({ native: { event, said } })
}

function generatedIn({ operation, action, actions, arguments: text, code }: JsonObject): string {
  const generated = operation ?? action ?? actions ?? text ?? code
  return generated === undefined ? '' : JSON.stringify(generated)
}

/** Annotations in the format of chat completions: the fields of each are in an object named for its type. */
function annotationsOf(annotations: readonly unknown[]): ChatPart {
  const inner = annotations.filter(isObject).map(({ type, ...fields }) => ({ type, [String(type)]: fields }))
  return choiceOf({ annotations: inner })
}

function idOf({ id }: { readonly id?: unknown }): JsonObject {
  return isText(id) ? { id } : {}
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
