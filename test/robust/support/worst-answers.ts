import {
  block,
  frames,
  MESSAGE_STOP,
  messageDelta,
  start,
  textBlock,
} from '../../providers/anthropic/anthropic-fixtures.ts'
import { chunk, DONE, event, USAGE, usageChunk } from '../../support/upstream.ts'
import { many } from './worst-requests.ts'

// Answers of some megabytes, each the worst for some pattern or loop that reads it.

type Answer = {
  readonly type: 'text/event-stream' | 'application/json'
  readonly status: number
  readonly body: string
}

const fields = (count: number, from = 0) =>
  Object.fromEntries(many(count, (index) => [`field_${from + index}`, index] as const))
const stream = (...events: readonly string[]): Answer => {
  return { type: 'text/event-stream', status: 200, body: events.join('') }
}
const json = (status: number, value: object): Answer => {
  return { type: 'application/json', status, body: JSON.stringify(value) }
}
/** A message of Anthropic with these events between its start and its end. */
const inMessage = (...events: readonly ReturnType<typeof messageDelta>[]) =>
  stream(...frames(start(), ...events, MESSAGE_STOP))

const call = (index: number | undefined, id = `c${index}`) => ({ index, id, function: { name: 'f', arguments: '' } })
const END = [chunk({}, 'stop'), usageChunk(USAGE), DONE]
const KEY_LIKE = 'sk-a'

export const WORST_OPENAI_ANSWERS: Readonly<Record<string, () => Answer>> = {
  'events of 1 and of 200,000 log probabilities': () =>
    stream(
      ...[1, 200_000].map((count) => {
        const logprobs = { content: Array(count).fill(0) }
        return event({ choices: [{ index: 0, delta: { content: 'a' }, logprobs }] })
      }),
      ...END,
    ),
  'one event of 120,000 tool calls': () => stream(chunk({ tool_calls: many(120_000, (index) => call(index)) }), ...END),
  'one event of 120,000 pieces of one tool call': () =>
    stream(chunk({ tool_calls: many(120_000, () => call(0)) }), ...END),
  'one event of 120,000 tool calls without positions': () =>
    stream(chunk({ tool_calls: many(120_000, (index) => call(undefined, `c${index}`)) }), ...END),
  'one event of 120,000 numbers for tool calls': () =>
    stream(chunk({ content: 'Hi', tool_calls: many(120_000, () => 7) }), ...END),
  '120,000 tool calls in plain JSON': () =>
    json(200, {
      choices: [{ index: 0, message: { tool_calls: many(120_000, (index) => call(index)) }, finish_reason: 'stop' }],
      usage: USAGE,
    }),
  'one event of 50,000 choices': () =>
    stream(
      event({ choices: many(50_000, (index) => ({ index, delta: { content: 'a' }, finish_reason: 'stop' })) }),
      usageChunk(USAGE),
      DONE,
    ),
  'a delta of 100,000 fields': () => stream(chunk(fields(100_000)), ...END),
  'ten usage reports of 20,000 fields': () =>
    stream(
      chunk({ content: 'Hi' }),
      ...many(10, (index) => usageChunk({ ...USAGE, ...fields(20_000, index) })),
      ...END,
    ),
  'an error of 60 KB that looks like keys': () => json(400, { error: { message: KEY_LIKE.repeat(15_000) } }),
  'an error of 60 KB that looks like a content filter’s': () =>
    json(403, { error: { message: 'content content_'.repeat(3_700) } }),
}

export const WORST_ANTHROPIC_ANSWERS: Readonly<Record<string, () => Answer>> = {
  '100 usage reports of ever new fields': () =>
    inMessage(
      ...textBlock(0, 'Hi'),
      ...many(100, (index) => messageDelta('end_turn', { output_tokens: 5, ...fields(1_000, index * 1_000) })),
    ),
  '100 endings of ever new fields': () =>
    inMessage(
      ...textBlock(0, 'Hi'),
      ...many(100, (index) => messageDelta('end_turn', { output_tokens: 5 }, fields(1_000, index * 1_000))),
    ),
  '50,000 tool calls in plain JSON': () =>
    json(200, {
      type: 'message',
      content: many(50_000, (index) => ({ type: 'tool_use', id: `c${index}`, name: 'f', input: {} })),
      stop_reason: 'tool_use',
      usage: { input_tokens: 12, output_tokens: 5 },
    }),
  'one tool call of 100,000 fields': () =>
    inMessage(...block(0, { type: 'tool_use', id: 'c', name: 'f', input: fields(100_000) }), messageDelta('tool_use')),
  'an error of 60 KB about limits': () =>
    json(400, { error: { type: 'invalid_request_error', message: 'reached your specified '.repeat(2_700) } }),
}
