import * as anthropic from '../../providers/anthropic/anthropic-fixtures.ts'
import * as bedrock from '../../providers/bedrock/bedrock-upstream.ts'
import * as responses from '../../providers/responses/responses-upstream.ts'
import { askForBothTools } from '../../sdk/support/tool-answers.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, say, sse, USAGE, usageChunk } from '../../support/upstream.ts'

const ANSWERS = ['text', 'tools', 'thinking', 'refusal', 'length', 'stop sequence', 'cut'] as const
export type AnswerName = (typeof ANSWERS)[number]

/** A gateway in front of an upstream of one dialect, which gives the answer that a test names. */
type Stand = {
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
    standOf(await anthropic.openAnthropic(), {
      text: anthropic.saying('Hello'),
      tools: anthropic.stream(...anthropic.ASK_FOR_BOTH_TOOLS),
      thinking: anthropic.stream(
        anthropic.start(),
        ...anthropic.thinkingBlock(0, 'Let me ', 'see.'),
        ...anthropic.block(1, { type: 'redacted_thinking', data: 'c2VjcmV0' }),
        ...anthropic.textBlock(2, '42'),
        ...anthropic.ending('end_turn', { output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } }),
      ),
      refusal: anthropic.stream(
        anthropic.start(),
        ...anthropic.ending('refusal', undefined, {
          stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' },
        }),
      ),
      length: anthropic.stream(anthropic.start(), ...anthropic.textBlock(0, 'Hel'), ...anthropic.ending('max_tokens')),
      'stop sequence': anthropic.message([{ type: 'text', text: 'Hello' }], 'stop_sequence'),
      cut: anthropic.stream(anthropic.start(), ...anthropic.textBlock(0, 'Hel')),
    }),
  bedrock: async () =>
    standOf(await bedrock.openBedrock({}), {
      text: bedrock.say('Hello'),
      tools: bedrock.frames(
        bedrock.START,
        bedrock.text('Let me look.'),
        bedrock.endBlock(),
        ...bedrock.callTool(1, 'tooluse_weather', 'get_weather', '{"ci', 'ty": "Ulm"}'),
        ...bedrock.callTool(2, 'tooluse_time', 'get_time'),
        bedrock.stop('tool_use'),
        bedrock.metadata(),
      ),
      thinking: bedrock.frames(
        bedrock.START,
        bedrock.thought({ text: 'Let me ' }),
        bedrock.thought({ text: 'see.' }),
        bedrock.thought({ signature: 'EqQBCgIYAhIM' }),
        bedrock.endBlock(),
        bedrock.event('contentBlockDelta', {
          contentBlockIndex: 1,
          delta: { reasoningContent: { redactedContent: 'c2VjcmV0' } },
        }),
        bedrock.endBlock(1),
        bedrock.text('42', 2),
        bedrock.endBlock(2),
        bedrock.stop('end_turn'),
        bedrock.metadata(),
      ),
      refusal: bedrock.frames(bedrock.START, bedrock.stop('guardrail_intervened'), bedrock.metadata()),
      length: bedrock.frames(
        bedrock.START,
        bedrock.text('Hel'),
        bedrock.endBlock(),
        bedrock.stop('max_tokens'),
        bedrock.metadata(),
      ),
      'stop sequence': bedrock.say('Hello', 'stop_sequence'),
      cut: bedrock.frames(bedrock.START, bedrock.text('Hel')),
    }),
  responses: async () =>
    standOf(await responses.openResponses(), {
      text: responses.saying('Hello'),
      tools: responses.answering([
        responses.message('Let me look.'),
        responses.call('call_weather', 'get_weather', '{"city": "Ulm"}'),
        responses.call('call_time', 'get_time', '{}'),
      ]),
      thinking: responses.answering([responses.thought('rs_1', 'sealed', 'Let me ', 'see.'), responses.message('42')]),
      refusal: responses.answering([responses.refusing('I cannot.')]),
      length: responses.answering([responses.message('Hel')], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      'stop sequence': responses.saying('Hello'),
      cut: sse(responses.frames(responses.CREATED, ...responses.eventsOf(responses.message('Hel'), 0).slice(0, -1))),
    }),
}
