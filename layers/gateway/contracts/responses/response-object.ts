import type { ErrorKind } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody } from '../../domain/chat/chat.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { moneyLiteral } from '../../wire/money/money-literal.ts'
import type { AnswerHead, CountedUsage } from '../contract.ts'
import type { Ending, Output } from './output.ts'

type ResponseState = {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly JsonObject[]
  readonly error?: JsonObject
  readonly incomplete?: Exclude<Ending, 'completed'>
  readonly usage?: JsonObject
  readonly endedMs?: number
  readonly tier?: string | undefined
}

/** The Response, most of which repeats the request. Its id is the request's, so that either finds the row. */
export function responseFor({ requestId, nowMs, model, chat }: AnswerHead): (state: ResponseState) => JsonObject {
  const id = requestId.replace('req_', 'resp_')
  const head = { id, object: 'response', created_at: inSeconds(nowMs), model }
  const request = requestFields(chat.raw)
  return ({ status, output, error, incomplete, usage, endedMs, tier }) => ({
    ...head,
    completed_at: endedMs === undefined ? null : inSeconds(endedMs),
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    ...request,
    service_tier: tier ?? 'default',
    output,
    usage: usage ?? null,
  })
}

export const inSeconds = (ms: number) => Math.floor(ms / 1000)

function requestFields(body: ChatBody): JsonObject {
  const { text, reasoning, tools } = body
  const asked = isObject(text) ? text : {}
  const thought = isObject(reasoning) ? reasoning : {}
  return {
    frequency_penalty: body.frequency_penalty ?? 0,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: thought.effort ?? null, summary: thought.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    store: false,
    temperature: body.temperature ?? 1,
    text: { format: asked.format ?? { type: 'text' }, ...(asked.verbosity ? { verbosity: asked.verbosity } : {}) },
    tool_choice: body.tool_choice ?? 'auto',
    tools: Array.isArray(tools) ? tools.map(shownTool) : [],
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    user: body.user ?? null,
  }
}

/** A function always has these two fields, also if the caller left them out. */
function shownTool(tool: JsonObject): JsonObject {
  return tool.type === 'function'
    ? { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? false }
    : tool
}

export function shownUsage({ bill, reported }: CountedUsage): JsonObject {
  const { prompt, cached, cacheWrite, completion } = bill.quantities
  const told = bill.source === 'upstream' && isObject(reported) ? reported : {}
  const { reasoning_tokens: reasoning } = isObject(told.completion_tokens_details) ? told.completion_tokens_details : {}
  const isCount = Number.isSafeInteger(reasoning) && (reasoning as number) >= 0
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: isCount ? Math.min(reasoning as number, completion) : 0 },
    total_tokens: prompt + completion,
    cost: moneyLiteral(bill.cost),
  }
}

export function endedState({ ending, shown }: Output, counted: CountedUsage): ResponseState {
  const usage = shownUsage(counted)
  const ended = { output: shown, usage, tier: counted.bill.serviceTier }
  if (ending === 'completed') return { status: 'completed', ...ended, endedMs: counted.endedMs }
  return { status: 'incomplete', ...ended, incomplete: ending }
}

/** The contract has few codes: the party at fault decides if clients retry. */
export function shownError(kind: ErrorKind, message: string): JsonObject {
  const isCallers = kind === 'upstream_rejected' || kind === 'invalid_request' || kind === 'request_too_large'
  return { code: isCallers ? 'invalid_prompt' : 'server_error', message }
}
