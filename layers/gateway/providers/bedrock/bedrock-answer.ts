import type * as aws from '@aws-sdk/client-bedrock-runtime'
import { MAX_DEPTH } from '../../domain/basics/json-fault.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatPart, ChoicePart } from '../../domain/chat/chat.ts'
import { isDeeper } from '../../wire/basics/field-rules.ts'
import { finishReasonOf } from '../../wire/chat/stop-reasons.ts'
import { toOpenAiUsage } from '../../wire/money/usage-counts.ts'
import { brokenOff, choiceOf, redactedThought, signature, ToolCalls } from '../conversation/answer-parts.ts'
import { tooDeep } from '../http/json-reply.ts'

/** Turns the events of a stream into parts. The answer is complete with messageStop; metadata brings the usage. */
export class ConverseEvents {
  readonly #calls: ToolCalls
  #stopReason: string | undefined
  #hasMetadata = false

  /** `custom`: the names of the caller's custom tools. */
  constructor(custom: ReadonlySet<unknown>) {
    this.#calls = new ToolCalls(custom)
  }

  get isWhole(): boolean {
    return this.#hasMetadata && this.#stopReason !== undefined
  }

  read({ contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata }: aws.ConverseStreamOutput) {
    const parts: ChatPart[] = []
    const tool = contentBlockStart?.start?.toolUse
    if (tool) parts.push(this.#calls.begin(contentBlockStart.contentBlockIndex, tool.toolUseId, tool.name))
    if (contentBlockDelta) parts.push(...this.#readDelta(contentBlockDelta.contentBlockIndex, contentBlockDelta.delta))
    if (contentBlockStop) parts.push(...this.#calls.end(contentBlockStop.contentBlockIndex))
    if (messageStop) {
      this.#stopReason = messageStop.stopReason ?? 'end_turn'
      parts.push({ ...choiceOf({}), ...finishReasonOf(this.#stopReason), ...endingOf(this.#stopReason) })
    }
    if (metadata?.usage) {
      // Bedrock counts tokens read from or written to a cache beside the prompt.
      const cacheDetails = livesOf(metadata.usage.cacheDetails)
      parts.push({ kind: 'usage', usage: toOpenAiUsage({ ...metadata.usage, cacheDetails }, true) })
    }
    if (metadata) this.#hasMetadata = true
    return parts
  }

  end(): void {
    if (this.#stopReason === undefined) throw brokenOff()
  }

  #readDelta(block: number | undefined, delta: aws.ContentBlockDelta | undefined): ChoicePart[] {
    if (delta?.text) return [choiceOf({ content: delta.text })]
    const { text, signature: signed, redactedContent } = delta?.reasoningContent ?? {}
    if (text) return [choiceOf({ reasoning_content: text })]
    if (signed) return [signature(signed, block ?? 0)]
    if (redactedContent) return [redactedThought(Buffer.from(redactedContent).toString('base64'), block ?? 0)]
    return delta?.toolUse?.input ? this.#calls.add(block, delta.toolUse.input) : []
  }
}

export function readConverse(
  { output, stopReason, usage }: aws.ConverseCommandOutput,
  custom: ReadonlySet<unknown>,
): ChatPart[] {
  const answer = new ConverseEvents(custom)
  const content = output?.message?.content ?? []
  const isDeep = isDeeper(content, MAX_DEPTH)
  const blocks = isDeep ? [] : content.flatMap(eventsOf)
  const parts = [...blocks, { messageStop: { stopReason } }, { metadata: { usage } }].flatMap((event) =>
    answer.read(event as aws.ConverseStreamOutput),
  )
  return isDeep ? [...parts, { kind: 'fault', failure: tooDeep() }] : parts
}

function eventsOf({ text, toolUse, reasoningContent }: aws.ContentBlock, contentBlockIndex: number): object[] {
  if (toolUse) {
    const { input, ...start } = toolUse
    return [
      { contentBlockStart: { contentBlockIndex, start: { toolUse: start } } },
      { contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: JSON.stringify(input ?? {}) } } } },
    ]
  }
  const { reasoningText: thought, redactedContent } = reasoningContent ?? {}
  const deltas = thought
    ? [{ reasoningContent: { text: thought.text } }, { reasoningContent: { signature: thought.signature } }]
    : [redactedContent ? { reasoningContent: { redactedContent } } : { text }]
  return deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } }))
}

/** Anthropic's stop reasons for which Chat Completions has none. */
const FINER_REASONS = new Set(['stop_sequence', 'model_context_window_exceeded'])

function endingOf(reason: string) {
  return FINER_REASONS.has(reason) && { ending: { reason, sequence: null, details: null } }
}

function livesOf(details: readonly aws.CacheDetail[] | undefined): JsonObject {
  const lives = { '5m': 0, '1h': 0 }
  for (const detail of details ?? []) lives[detail?.ttl === '5m' ? '5m' : '1h'] += detail?.inputTokens ?? 0
  return lives
}
