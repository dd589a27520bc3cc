import { catalogFor, type TestGateway } from '../../support/gateway.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { type Reply, sse, status, type Upstream } from '../../support/upstream.ts'

// Responses and their events in the shapes that OpenAI publishes, written by hand.

export type Event = { readonly type: string; readonly [field: string]: unknown }
type Item = { readonly type: string; readonly [field: string]: unknown }

export const KEY = 'sk-proj-not-a-real-key'

/** A gateway whose one model is at an upstream that speaks Responses. */
export async function openResponses(
  model: object = {},
  provider: object = {},
): Promise<{ upstream: Upstream; gateway: TestGateway }> {
  process.env.TEST_RESPONSES_KEY = KEY
  const upstream = await openUpstream(saying('Hello'))
  const entry = { contract: 'responses', apiKey: 'env:TEST_RESPONSES_KEY', ...provider }
  return { upstream, gateway: await openFor(catalogFor(upstream.url, model, entry)) }
}

export const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
}

export function frames(...events: readonly Event[]): string[] {
  return events.map(
    (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number, ...event })}\n\n`,
  )
}

export function responseOf(output: readonly Item[], more: object = {}): object {
  return {
    id: 'resp_up',
    object: 'response',
    created_at: 1,
    model: 'upstream-model',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output,
    usage: USAGE,
    ...more,
  }
}

export const CREATED: Event = {
  type: 'response.created',
  response: responseOf([], { status: 'in_progress', usage: null }),
}

export function completed(output: readonly Item[], more: object = {}): Event {
  return { type: 'response.completed', response: responseOf(output, more) }
}

export function message(text: string): Item {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { type: 'message', id: 'msg_up', status: 'completed', role: 'assistant', content }
}

export function refusing(refusal: string): Item {
  return { ...message(''), content: [{ type: 'refusal', refusal }] }
}

export function call(call_id: string, name: string, args: string): Item {
  return { type: 'function_call', id: `fc_${call_id}`, status: 'completed', call_id, name, arguments: args }
}

export function customCall(call_id: string, name: string, input: string): Item {
  return { type: 'custom_tool_call', id: `ctc_${call_id}`, call_id, name, input }
}

export function thought(id: string, encrypted_content: string, ...summary: readonly string[]): Item {
  return { type: 'reasoning', id, encrypted_content, summary: summary.map((text) => ({ type: 'summary_text', text })) }
}

/** The events in which OpenAI streams an item, each of its texts in two pieces. */
export function eventsOf(item: Item, output_index: number): Event[] {
  const at = { output_index, item_id: item.id }
  const deltas = (type: string, text: unknown, more: object = {}): Event[] => {
    const half = Math.ceil(String(text).length / 2)
    const pieces = [String(text).slice(0, half), String(text).slice(half)].filter((piece) => piece !== '')
    return pieces.map((delta) => ({ type, ...at, ...more, delta }))
  }
  const parts = (name: 'content' | 'summary') => ((item[name] ?? []) as Record<string, unknown>[]).entries()
  return [
    { type: 'response.output_item.added', output_index, item: begun(item) },
    ...parts('summary').flatMap(([summary_index, { text }]) =>
      deltas('response.reasoning_summary_text.delta', text, { summary_index }),
    ),
    ...parts('content').flatMap(([content_index, part]) =>
      part.type === 'refusal'
        ? deltas('response.refusal.delta', part.refusal, { content_index })
        : deltas('response.output_text.delta', part.text, { content_index, logprobs: [] }),
    ),
    ...(item.type === 'function_call' ? deltas('response.function_call_arguments.delta', item.arguments) : []),
    ...(item.type === 'custom_tool_call' ? deltas('response.custom_tool_call_input.delta', item.input) : []),
    { type: 'response.output_item.done', output_index, item },
  ]
}

function begun(item: Item): object {
  const { encrypted_content: _, ...rest } = item
  return {
    ...rest,
    ...('status' in item && { status: 'in_progress' }),
    ...('content' in item && { content: [] }),
    ...('summary' in item && { summary: [] }),
    ...('arguments' in item && { arguments: '' }),
    ...('input' in item && { input: '' }),
  }
}

/** These items, streamed or whole as it was asked for. */
export function answering(items: readonly Item[], more: { status?: string; [field: string]: unknown } = {}): Reply {
  const last = { ...completed(items, more), type: `response.${more.status ?? 'completed'}` }
  const streamed = sse(frames(CREATED, ...items.flatMap(eventsOf), last))
  const whole = status(200, responseOf(items, more))
  return (response, request) => (request.body?.stream === false ? whole : streamed)(response, request)
}

export function saying(text: string): Reply {
  return answering([message(text)])
}
