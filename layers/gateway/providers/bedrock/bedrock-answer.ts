import type {
  CacheDetail,
  ContentBlock,
  ContentBlockDelta,
  ContentBlockStart,
  ConverseCommandOutput,
  ConverseStreamOutput,
  TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import { MAX_DEPTH } from '../../domain/basics/json-fault.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatPart, ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isDeeper } from '../../wire/basics/field-rules.ts'
import { finishReasonOf } from '../../wire/chat/stop-reasons.ts'
import { toOpenAiUsage } from '../../wire/money/usage-counts.ts'
import { tooDeep } from '../http/json-reply.ts'

/** Turns the events of a stream into parts. The answer is complete with messageStop; metadata brings the usage. */
export class ConverseEvents {
  readonly #toolCalls = new ToolCalls()
  #stopReason: string | undefined
  #hasMetadata = false

  get isWhole(): boolean {
    return this.#hasMetadata && this.#stopReason !== undefined
  }

  read({ contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata }: ConverseStreamOutput) {
    const calls = this.#toolCalls
    const parts: ChatPart[] = []
    if (contentBlockStart) parts.push(...calls.begin(contentBlockStart.contentBlockIndex, contentBlockStart.start))
    if (contentBlockDelta) parts.push(...readDelta(contentBlockDelta.contentBlockIndex, contentBlockDelta.delta, calls))
    if (contentBlockStop) parts.push(...calls.end(contentBlockStop.contentBlockIndex))
    if (messageStop) {
      this.#stopReason = messageStop.stopReason ?? 'end_turn'
      parts.push({ ...choice({}), ...finishReasonOf(this.#stopReason), ...endingOf(this.#stopReason) })
    }
    if (metadata?.usage) parts.push({ kind: 'usage', usage: toUsage(metadata.usage) })
    if (metadata) this.#hasMetadata = true
    return parts
  }

  /** Throws if the answer was not complete. */
  end(): void {
    if (this.#stopReason === undefined)
      throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
  }
}

/** The parts of an answer that came whole. */
export function readConverse({ output, stopReason, usage }: ConverseCommandOutput): ChatPart[] {
  const answer = new ConverseEvents()
  const content = output?.message?.content ?? []
  const isDeep = isDeeper(content, MAX_DEPTH)
  const blocks = isDeep ? [] : content.flatMap(eventsOf)
  const parts = [...blocks, { messageStop: { stopReason } }, { metadata: { usage } }].flatMap((event) =>
    answer.read(event as ConverseStreamOutput),
  )
  return isDeep ? [...parts, { kind: 'fault', failure: tooDeep() }] : parts
}

/** A whole block in the form of its events. */
function eventsOf({ text, toolUse, reasoningContent }: ContentBlock, contentBlockIndex: number): object[] {
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

function readDelta(block: number | undefined, delta: ContentBlockDelta | undefined, calls: ToolCalls): ChoicePart[] {
  if (delta?.text) return [choice({ content: delta.text })]
  const { text, signature, redactedContent } = delta?.reasoningContent ?? {}
  if (text) return [choice({ reasoning_content: text })]
  if (signature) return [choice(detailOf({ type: 'reasoning.text', signature }, block))]
  if (redactedContent) {
    const data = Buffer.from(redactedContent).toString('base64')
    return [choice(detailOf({ type: 'reasoning.encrypted', data }, block))]
  }
  return delta?.toolUse?.input ? calls.add(block, delta.toolUse.input) : []
}

/** Signatures and redacted thoughts are for the model alone, which gets them back with the next request. */
function detailOf(detail: object, index: number | undefined): Delta {
  return { reasoning_details: [{ ...detail, format: 'anthropic-claude-v1', index: index ?? 0 }] }
}

/** Content blocks are numbered including text blocks, tool calls are not. */
class ToolCalls {
  readonly #byBlock = new Map<number | undefined, { readonly index: number; hasInput: boolean }>()

  begin(block: number | undefined, start: ContentBlockStart | undefined): ChoicePart[] {
    if (!start?.toolUse) return []
    const { toolUseId: id, name } = start.toolUse
    const index = this.#byBlock.size
    this.#byBlock.set(block, { index, hasInput: false })
    return [choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })]
  }

  add(block: number | undefined, input: string): ChoicePart[] {
    const call = this.#byBlock.get(block)
    if (!call) return []
    call.hasInput = true
    return [choice({ tool_calls: [{ index: call.index, function: { arguments: input } }] })]
  }

  /** A tool without parameters is called without input; clients parse the arguments all the same. */
  end(block: number | undefined): ChoicePart[] {
    return this.#byBlock.get(block)?.hasInput === false ? this.add(block, '{}') : []
  }
}

function choice(delta: Delta, finishReason: string | null = null): ChoicePart {
  return { kind: 'choice', index: 0, delta, logprobs: null, finishReason }
}

/** Bedrock counts tokens read from or written to a cache beside the prompt. */
function toUsage({ cacheDetails, ...usage }: TokenUsage): JsonObject {
  return toOpenAiUsage({ ...usage, cacheDetails: livesOf(cacheDetails) }, true)
}

function livesOf(details: readonly CacheDetail[] | undefined): JsonObject {
  const lives = { '5m': 0, '1h': 0 }
  for (const detail of details ?? []) lives[detail?.ttl === '5m' ? '5m' : '1h'] += detail?.inputTokens ?? 0
  return lives
}
