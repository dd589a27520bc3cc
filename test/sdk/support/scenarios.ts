import { chunk, DONE, event, type Reply, say, sse, status, USAGE, usageChunk } from '../../support/upstream.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './tool-answers.ts'

type Said = { readonly content?: string | null; readonly finish_reason: string; readonly [more: string]: unknown }

/** An upstream's reply, and the contents that each choice of the answer must then have, streamed or not. */
export type Scenario = { readonly reply: Reply; readonly request?: object; readonly says: readonly Said[] }

const LOGPROB = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }
const LIKELY = { content: [LOGPROB], refusal: null }
const HELLO = { content: 'Hello', finish_reason: 'stop' }
const TWO_CALLS = { content: null, tool_calls: [WEATHER_CALL, TIME_CALL], finish_reason: 'tool_calls' }

export const SCENARIOS: Record<string, Scenario> = {
  'a plain answer': { reply: say('Hello'), says: [HELLO] },
  'tool calls in pieces': { reply: askForBothTools, says: [TWO_CALLS] },
  'two interleaved choices': {
    request: { n: 2 },
    reply: streamed(
      choiceEvent(0, { role: 'assistant', content: 'A' }),
      choiceEvent(1, { role: 'assistant', content: 'X' }),
      choiceEvent(1, { content: 'Y' }, 'length'),
      choiceEvent(0, { content: 'B' }, 'stop'),
    ),
    says: [
      { content: 'AB', finish_reason: 'stop' },
      { content: 'XY', finish_reason: 'length' },
    ],
  },
  'two choices in one event': {
    request: { n: 2 },
    reply: sse([
      event({ choices: [0, 1].map((index) => ({ index, delta: { content: `${index}` }, finish_reason: null })) }),
      event({ choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: 'stop' })) }),
      DONE,
    ]),
    says: [
      { content: '0', finish_reason: 'stop' },
      { content: '1', finish_reason: 'stop' },
    ],
  },
  'log probabilities': {
    request: { logprobs: true },
    reply: streamed(
      choiceEvent(0, { role: 'assistant', content: 'Hi' }, null, LIKELY),
      choiceEvent(0, { content: 'Hi' }, null, LIKELY),
      choiceEvent(0, {}, 'stop', null),
    ),
    says: [{ content: 'HiHi', logprobs: { content: [LOGPROB, LOGPROB], refusal: null }, finish_reason: 'stop' }],
  },
  'a refusal': {
    reply: streamed(
      chunk({ role: 'assistant', refusal: '' }),
      chunk({ refusal: 'I ' }),
      chunk({ refusal: 'cannot.' }),
      chunk({}, 'stop'),
    ),
    says: [{ content: null, refusal: 'I cannot.', finish_reason: 'stop' }],
  },
  'an answer cut at its token cap': {
    request: { max_tokens: 1 },
    reply: sse([
      chunk({ role: 'assistant', content: 'Hel' }, 'length'),
      usageChunk({ ...USAGE, completion_tokens: 1 }),
      DONE,
    ]),
    says: [{ content: 'Hel', finish_reason: 'length' }],
  },
  'a filtered answer without any text': {
    reply: streamed(chunk({ role: 'assistant' }), chunk({}, 'content_filter')),
    says: [{ finish_reason: 'content_filter' }],
  },
  'a legacy function call': {
    reply: streamed(
      chunk({ role: 'assistant', content: null, function_call: { name: 'look', arguments: '' } }),
      chunk({ function_call: { arguments: '{"a":' } }),
      chunk({ function_call: { arguments: '1}' } }, 'function_call'),
    ),
    says: [{ content: null, function_call: { name: 'look', arguments: '{"a":1}' }, finish_reason: 'function_call' }],
  },
  'a custom tool call in pieces': {
    reply: streamed(
      chunk({
        role: 'assistant',
        tool_calls: [{ index: 0, id: 'c1', type: 'custom', custom: { name: 'sh', input: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, custom: { input: 'ls ' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: '-l' } }] }),
      chunk({}, 'tool_calls'),
    ),
    says: [
      {
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls -l' } }],
        finish_reason: 'tool_calls',
      },
    ],
  },
  'an upstream that omits every optional field': {
    reply: sse([
      event({ choices: [{ index: 0, delta: { content: 'Hel' } }] }),
      event({ choices: [{ index: 0, delta: { content: 'lo' } }] }),
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    ]),
    says: [HELLO],
  },
  'an upstream that never gives a finish reason': {
    reply: streamed(chunk({ content: 'Hello' })),
    says: [HELLO],
  },
  'an upstream that calls a tool and gives no finish reason': {
    reply: streamed(
      chunk({ tool_calls: [{ index: 0, ...WEATHER_CALL }] }),
      chunk({ tool_calls: [{ index: 1, ...TIME_CALL }] }),
    ),
    says: [TWO_CALLS],
  },
  'an upstream that omits the type and arguments of a tool call': {
    reply: streamed(
      chunk({ tool_calls: [{ index: 0, id: 'call_now', function: { name: 'now' } }] }),
      chunk({}, 'tool_calls'),
    ),
    says: [
      {
        tool_calls: [{ id: 'call_now', type: 'function', function: { name: 'now', arguments: '' } }],
        finish_reason: 'tool_calls',
      },
    ],
  },
  'an upstream that omits the index of its tool calls': {
    reply: streamed(chunk({ tool_calls: [WEATHER_CALL, TIME_CALL] }), chunk({}, 'tool_calls')),
    says: [TWO_CALLS],
  },
  'an upstream whose log probabilities have no refusal': {
    request: { logprobs: true },
    reply: streamed(choiceEvent(0, { content: 'Hi' }, 'stop', { content: [LOGPROB] })),
    says: [{ content: 'Hi', logprobs: LIKELY, finish_reason: 'stop' }],
  },
  'an upstream that repeats an empty role and finish reason': {
    reply: streamed(
      chunk({ role: 'assistant', content: 'Hel' }, ''),
      chunk({ role: '', content: 'lo' }, ''),
      chunk({ role: null }, 'stop'),
    ),
    says: [HELLO],
  },
  'an upstream that begins without a choice and ends with usage': {
    reply: sse([
      event({ id: '', created: 0, model: '', object: '', choices: [], prompt_filter_results: [] }),
      chunk({ role: 'assistant', content: 'Hello' }),
      chunk({}, 'stop', { usage: USAGE, system_fingerprint: 'fp_1' }),
      DONE,
    ]),
    says: [HELLO],
  },
  'plain JSON in place of a stream': {
    reply: whole([{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]),
    says: [HELLO],
  },
  'plain JSON with tool calls': {
    reply: whole([
      {
        message: { role: 'assistant', content: null, tool_calls: [WEATHER_CALL, TIME_CALL] },
        finish_reason: 'tool_calls',
      },
    ]),
    says: [TWO_CALLS],
  },
  'plain JSON with two choices and log probabilities': {
    request: { n: 2, logprobs: true },
    reply: whole(
      ['A', 'B'].map((content, index) => ({
        index,
        message: { role: 'assistant', content, refusal: null },
        logprobs: LIKELY,
        finish_reason: 'stop',
      })),
    ),
    says: [
      { content: 'A', logprobs: LIKELY, finish_reason: 'stop' },
      { content: 'B', logprobs: LIKELY, finish_reason: 'stop' },
    ],
  },
}

/** These events, then the usage and the end. */
function streamed(...events: readonly string[]): Reply {
  return sse([...events, usageChunk(USAGE), DONE])
}

function choiceEvent(
  index: number,
  delta: object,
  finish_reason: string | null = null,
  logprobs: unknown = null,
): string {
  const head = { id: `up-${index}`, object: 'chat.completion.chunk', created: index, model: `upstream-model-${index}` }
  return event({ ...head, choices: [{ index, delta, logprobs, finish_reason }] })
}

function whole(choices: readonly object[]): Reply {
  const head = { id: 'up-1', object: 'chat.completion', created: 1, model: 'upstream-model' }
  return status(200, { ...head, choices, usage: USAGE })
}
