import {
  ASK_FOR_BOTH_TOOLS,
  block,
  ending,
  message,
  openAnthropic,
  saying,
  start,
  stream,
  textBlock,
  thinkingBlock,
} from '../../providers/anthropic/anthropic-fixtures.ts'
import {
  callTool,
  endBlock,
  event,
  frames,
  metadata,
  openBedrock,
  START,
  say as sayAtBedrock,
  stop,
  text,
  thought,
} from '../../providers/bedrock/bedrock-upstream.ts'
import {
  answering,
  CREATED,
  call as callAtResponses,
  eventsOf,
  openResponses,
  refusing,
  frames as responsesFrames,
  message as responsesMessage,
  thought as responsesThought,
  saying as sayingAtResponses,
} from '../../providers/responses/responses-upstream.ts'
import { askForBothTools } from '../../sdk/support/tool-answers.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, say, sse, USAGE, usageChunk } from '../../support/upstream.ts'

const ANSWERS = ['text', 'tools', 'thinking', 'refusal', 'length', 'stop sequence', 'cut'] as const
export type AnswerName = (typeof ANSWERS)[number]

/** A gateway in front of an upstream of one dialect, which gives the answer that a test names. */
export type Stand = {
  readonly gateway: TestGateway
  readonly requests: { readonly body: Record<string, unknown> }[]
  answer(name: AnswerName): void
}

type Both<Reply> = { gateway: TestGateway; upstream: { requests: Stand['requests']; reply: Reply } }

function standOf<Reply>({ gateway, upstream }: Both<Reply>, answers: Readonly<Record<AnswerName, Reply>>): Stand {
  return {
    gateway,
    requests: upstream.requests,
    answer(name) {
      upstream.requests.length = 0
      upstream.reply = answers[name]
    },
  }
}

/** The same answers in each dialect. All report a prompt of 10 (Anthropic: 12) and 5 generated tokens, unless they are cut. */
export const STANDS: Readonly<Record<string, () => Promise<Stand>>> = {
  openai: async () =>
    standOf(await openBoth(), {
      text: say('Hello'),
      tools: askForBothTools,
      thinking: sse([
        chunk({ role: 'assistant', reasoning_content: 'Let me ' }),
        chunk({ reasoning_content: 'see.' }),
        chunk({ content: '42' }),
        chunk({}, 'stop'),
        usageChunk(USAGE),
        DONE,
      ]),
      refusal: sse([
        chunk({ role: 'assistant', refusal: 'I cannot.' }),
        chunk({}, 'content_filter'),
        usageChunk(USAGE),
        DONE,
      ]),
      length: sse([chunk({ role: 'assistant', content: 'Hel' }), chunk({}, 'length'), usageChunk(USAGE), DONE]),
      'stop sequence': say('Hello'),
      cut: sse([chunk({ role: 'assistant', content: 'Hel' })]),
    }),
  anthropic: async () =>
    standOf(await openAnthropic(), {
      text: saying('Hello'),
      tools: stream(...ASK_FOR_BOTH_TOOLS),
      thinking: stream(
        start(),
        ...thinkingBlock(0, 'Let me ', 'see.'),
        ...block(1, { type: 'redacted_thinking', data: 'c2VjcmV0' }),
        ...textBlock(2, '42'),
        ...ending('end_turn', { output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } }),
      ),
      refusal: stream(
        start(),
        ...ending('refusal', undefined, { stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' } }),
      ),
      length: stream(start(), ...textBlock(0, 'Hel'), ...ending('max_tokens')),
      'stop sequence': message([{ type: 'text', text: 'Hello' }], 'stop_sequence'),
      cut: stream(start(), ...textBlock(0, 'Hel')),
    }),
  bedrock: async () =>
    standOf(await openBedrock({}), {
      text: sayAtBedrock('Hello'),
      tools: frames(
        START,
        text('Let me look.'),
        endBlock(),
        ...callTool(1, 'tooluse_weather', 'get_weather', '{"ci', 'ty": "Ulm"}'),
        ...callTool(2, 'tooluse_time', 'get_time'),
        stop('tool_use'),
        metadata(),
      ),
      thinking: frames(
        START,
        thought({ text: 'Let me ' }),
        thought({ text: 'see.' }),
        thought({ signature: 'EqQBCgIYAhIM' }),
        endBlock(),
        event('contentBlockDelta', {
          contentBlockIndex: 1,
          delta: { reasoningContent: { redactedContent: 'c2VjcmV0' } },
        }),
        endBlock(1),
        text('42', 2),
        endBlock(2),
        stop('end_turn'),
        metadata(),
      ),
      refusal: frames(START, stop('guardrail_intervened'), metadata()),
      length: frames(START, text('Hel'), endBlock(), stop('max_tokens'), metadata()),
      'stop sequence': sayAtBedrock('Hello', 'stop_sequence'),
      cut: frames(START, text('Hel')),
    }),
  responses: async () =>
    standOf(await openResponses(), {
      text: sayingAtResponses('Hello'),
      tools: answering([
        responsesMessage('Let me look.'),
        callAtResponses('call_weather', 'get_weather', '{"city": "Ulm"}'),
        callAtResponses('call_time', 'get_time', '{}'),
      ]),
      thinking: answering([responsesThought('rs_1', 'sealed', 'Let me ', 'see.'), responsesMessage('42')]),
      refusal: answering([refusing('I cannot.')]),
      length: answering([responsesMessage('Hel')], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      'stop sequence': sayingAtResponses('Hello'),
      cut: sse(responsesFrames(CREATED, ...eventsOf(responsesMessage('Hel'), 0).slice(0, -1))),
    }),
}
