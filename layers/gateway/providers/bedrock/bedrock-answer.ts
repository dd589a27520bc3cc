import type {
  ContentBlockDelta,
  ContentBlockStart,
  ConverseStreamOutput,
  TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import type { ChatPart, ChoicePart, Delta } from '../../domain/chat.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'

const FINISH_REASONS = new Map<string, string>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
  }),
)

/** The answer is whole with messageStop; metadata, the last event, brings the usage. */
export async function* toParts(events: AsyncIterable<ConverseStreamOutput>): AsyncGenerator<ChatPart, void, undefined> {
  const toolCalls = new ToolCalls()
  let stopReason: string | undefined
  for await (const { contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata } of events) {
    if (contentBlockStart) yield* toolCalls.begin(contentBlockStart.contentBlockIndex, contentBlockStart.start)
    if (contentBlockDelta) yield* readDelta(contentBlockDelta.contentBlockIndex, contentBlockDelta.delta, toolCalls)
    if (contentBlockStop) yield* toolCalls.end(contentBlockStop.contentBlockIndex)
    if (messageStop) {
      stopReason = messageStop.stopReason ?? 'end_turn'
      if (!isMalformed(stopReason)) yield choice({}, FINISH_REASONS.get(stopReason) ?? 'stop')
    }
    if (metadata?.usage) yield { kind: 'usage', usage: toUsage(metadata.usage) }
    if (metadata && stopReason !== undefined) break
  }
  if (stopReason === undefined) throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
  if (isMalformed(stopReason)) {
    throw new UpstreamFailure('protocol', `The model’s answer could not be read (${stopReason}).`)
  }
}

function isMalformed(stopReason: string): boolean {
  return stopReason === 'malformed_tool_use' || stopReason === 'malformed_model_output'
}

function* readDelta(block: number | undefined, delta: ContentBlockDelta | undefined, toolCalls: ToolCalls) {
  if (delta?.text) yield choice({ content: delta.text })
  // Signatures and redacted thoughts have no place in OpenAI's shapes.
  if (delta?.reasoningContent?.text) yield choice({ reasoning_content: delta.reasoningContent.text })
  if (delta?.toolUse?.input) yield* toolCalls.add(block, delta.toolUse.input)
}

/** Content blocks are numbered with the text between them, tool calls are not. */
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

/** OpenAI counts what was read from or written to a cache as part of the prompt; Bedrock counts it beside. */
function toUsage(usage: TokenUsage): Record<string, unknown> {
  const { inputTokens, outputTokens, cacheReadInputTokens = 0, cacheWriteInputTokens = 0 } = usage
  const prompt = Number(inputTokens) + cacheReadInputTokens + cacheWriteInputTokens
  return {
    prompt_tokens: prompt,
    completion_tokens: outputTokens,
    total_tokens: prompt + Number(outputTokens),
    prompt_tokens_details: {
      cached_tokens: cacheReadInputTokens,
      ...(cacheWriteInputTokens !== 0 && { cache_write_tokens: cacheWriteInputTokens }),
    },
  }
}
