import { catalogFor, type TestGateway } from '../../support/gateway.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { type Reply, sse, status, type Upstream } from '../../support/upstream.ts'

// Messages and events in the shapes that Anthropic publishes, written by hand.

type Event = { readonly type: string; readonly [field: string]: unknown }

export const KEY = 'sk-ant-api03-not-a-real-key'
export const PING: Event = { type: 'ping' }
export const MESSAGE_STOP: Event = { type: 'message_stop' }

const START_USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 1,
  service_tier: 'standard',
}

/** A gateway whose one model is at an upstream that speaks Anthropic's dialect. */
export async function openAnthropic(): Promise<{ upstream: Upstream; gateway: TestGateway }> {
  process.env.TEST_ANTHROPIC_KEY = KEY
  const upstream = await openUpstream(saying('Hello'))
  const provider = { type: 'anthropic', apiKey: 'env:TEST_ANTHROPIC_KEY' }
  return { upstream, gateway: await openFor(catalogFor(upstream.url, {}, provider)) }
}

export function frames(...events: readonly Event[]): string[] {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

export function stream(...events: readonly Event[]): Reply {
  return sse(frames(...events))
}

export function start(usage: object = START_USAGE): Event {
  return {
    type: 'message_start',
    message: {
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: 'upstream-model',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage,
    },
  }
}

export function textBlock(index: number, ...pieces: readonly string[]): Event[] {
  const deltas = pieces.map((text) => blockDelta(index, { type: 'text_delta', text }))
  return block(index, { type: 'text', text: '', citations: null }, deltas)
}

export function toolBlock(index: number, id: string, name: string, ...pieces: readonly string[]): Event[] {
  const deltas = ['', ...pieces].map((partial_json) => blockDelta(index, { type: 'input_json_delta', partial_json }))
  return block(index, { type: 'tool_use', id, name, input: {} }, deltas)
}

export function thinkingBlock(index: number, ...pieces: readonly string[]): Event[] {
  return block(index, { type: 'thinking', thinking: '', signature: '' }, [
    ...pieces.map((thinking) => blockDelta(index, { type: 'thinking_delta', thinking })),
    blockDelta(index, { type: 'signature_delta', signature: 'EqQBCgIYAhIM' }),
  ])
}

export function block(index: number, content_block: object, deltas: readonly Event[] = []): Event[] {
  return [{ type: 'content_block_start', index, content_block }, ...deltas, { type: 'content_block_stop', index }]
}

export function blockDelta(index: number, delta: object): Event {
  return { type: 'content_block_delta', index, delta }
}

export function messageDelta(
  stop_reason: string | null,
  usage: object = { output_tokens: 5 },
  more: object = {},
): Event {
  return { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage }
}

export function ending(stop_reason: string, usage?: object, more?: object): Event[] {
  return [messageDelta(stop_reason, usage, more), MESSAGE_STOP]
}

export function saying(text: string): Reply {
  const streamed = stream(start(), PING, ...textBlock(0, text), ...ending('end_turn'))
  const whole = message([{ type: 'text', text }], 'end_turn')
  return (response, request) => (request.body?.stream === false ? whole : streamed)(response, request)
}

export const ASK_FOR_BOTH_TOOLS = [
  start(),
  ...textBlock(0, 'Let me look.'),
  ...toolBlock(1, 'toolu_weather', 'get_weather', '{"ci', 'ty": "Ulm"}'),
  ...toolBlock(2, 'toolu_time', 'get_time'),
  ...ending('tool_use', { output_tokens: 40 }),
]

/** A whole Message, as without streaming. */
export function message(content: readonly object[], stop_reason: string, usage: object = { output_tokens: 5 }): Reply {
  return status(200, {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model',
    content,
    stop_reason,
    stop_sequence: null,
    stop_details: null,
    usage: { ...START_USAGE, ...usage },
  })
}

export function error(type: string, message: string): Event {
  return { type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' }
}
