import { expect, test } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import { lossOf } from '../../../layers/gateway/domain/admission/counters.ts'
import { CONTRACT_BODIES } from '../../providers/support/every-dialect.ts'
import { Random } from '../../simulation/random.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { event, type Reply } from '../../support/upstream.ts'
import { CAP, DEEP, type Lie, LONG, randomLie, UNTOLD, usagesOf, WORDS } from './lies.ts'

// A provider that bills, and lies in its answers: in their depth, sizes and order, in missing and double counts, in stop
// reasons, with nothing usable. More: LIES=5000 npm run -s jest -- lying-provider

const LIES = Number(process.env.LIES ?? 150)
const SEED = Number(process.env.LIES_SEED ?? 1)
const DIALECTS = ['chat', 'responses', 'anthropic'] as const
type Dialect = (typeof DIALECTS)[number]
type Usage = Record<string, number | undefined>

let lie: Lie
/** True if all that it said was that it failed. */
let isOnlyError = false
/** True if it has told its usage in a form that can be read. */
let isTold = false

/** The frames of an answer, and its whole JSON as text. */
type Told = { readonly frames: readonly string[]; readonly whole: string }

const counts =
  (prompt: string, completion: string) =>
  (p?: number, c?: number): Usage => ({ [prompt]: p, [completion]: c })

/** A whole answer has one usage. */
const merge = (usages: readonly Usage[]) =>
  Object.fromEntries(
    usages.toReversed().flatMap((usage) => Object.entries(usage).filter(([, count]) => count !== undefined)),
  )

function inChat(): Told {
  const { before, after } = usagesOf(lie, counts('prompt_tokens', 'completion_tokens'))
  const choice = (delta: string, more = '') => `data: {"choices":[{"index":0,"delta":${delta}${more}}]}\n\n`
  const call = `{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}","x":${DEEP}}}]}`
  const said = { text: ['{"content":"Hello"}'], deep: [call], 'beyond its cap': [JSON.stringify({ content: WORDS })] }
  const deltas = said[lie.content as keyof typeof said] ?? []
  const stop =
    lie.content === 'no choices' || lie.content === 'nothing'
      ? []
      : [choice('{}', `,"finish_reason":${JSON.stringify(lie.stop)}`)]
  const usage = (one: Usage) => event({ choices: [], usage: one })
  const message = deltas.map((delta) => `{"index":0,"message":${delta},"finish_reason":${JSON.stringify(lie.stop)}}`)
  const merged = merge([...before, ...after])
  return {
    frames: [
      ...before.map(usage),
      ...odd('{"choices":[{"index":0,"delta":{"content":""}}]}'),
      ...deltas.map((delta) => choice(delta)),
      ...stop,
      ...after.map(usage),
      'data: [DONE]\n\n',
    ],
    whole: `{"choices":[${lie.content === 'garbage' ? '{"index":' : message.join()}],"usage":${JSON.stringify(merged)}}`,
  }
}

function inResponses(): Told {
  const { before, after } = usagesOf(lie, counts('input_tokens', 'output_tokens'))
  const merged = merge([...before, ...after])
  const usage = [...before, ...after].length > 0 ? `,"usage":${JSON.stringify(merged)}` : ''
  const text = lie.content === 'beyond its cap' ? WORDS : 'Hello'
  const item = `{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":${JSON.stringify(text)}${lie.content === 'deep' ? `,"x":${DEEP}` : ''}}]}`
  const output = ['text', 'deep', 'beyond its cap'].includes(lie.content) ? item : ''
  const status = lie.stop === 'error' ? 'failed' : 'completed'
  const response = `{"status":"${status}","output":[${output}]${usage}}`
  return {
    frames: [
      ...odd('{"type":"response.output_text.delta","output_index":0,"delta":""}'),
      `data: {"type":"response.${status}","response":${response}}\n\n`,
    ],
    whole: lie.content === 'garbage' ? response.slice(1) : response,
  }
}

function inMessages(): Told {
  const { before, after } = usagesOf(lie, counts('input_tokens', 'output_tokens'))
  const block =
    lie.content === 'deep'
      ? `{"type":"tool_use","id":"t","name":"f","input":${DEEP}}`
      : JSON.stringify({ type: 'text', text: lie.content === 'beyond its cap' ? WORDS : 'Hello' })
  const blocks = ['text', 'deep', 'beyond its cap'].includes(lie.content) ? [block] : []
  const data = (type: string, more: string) => `data: {"type":"${type}"${more}}\n\n`
  const merged = JSON.stringify(merge([...before, ...after]))
  return {
    frames: [
      ...before.map((usage) => data('message_delta', `,"delta":{},"usage":${JSON.stringify(usage)}`)),
      ...odd('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}'),
      ...blocks.map((one) => data('content_block_start', `,"index":0,"content_block":${one}`)),
      ...(after.length > 0 ? after : [undefined]).map((usage) =>
        data(
          'message_delta',
          `,"delta":{"stop_reason":${JSON.stringify(lie.stop)}},"usage":${JSON.stringify(usage ?? null)}`,
        ),
      ),
      data('message_stop', ''),
    ],
    whole: `{"type":"message","content":[${blocks.join()}${lie.content === 'garbage' ? '{' : ''}],"stop_reason":${JSON.stringify(lie.stop)},"usage":${merged}}`,
  }
}

/** Frames that cannot be used, or say nothing, before the answer. */
function odd(empty: string): string[] {
  if (lie.content === 'garbage') return ['data: {nonsense\n\n']
  if (lie.content === 'long event') return [`data: {"x":"${LONG}"}\n\n`]
  return lie.content === 'empty parts' ? Array(3_000).fill(`data: ${empty}\n\n`) : []
}

const IN: Readonly<Record<Dialect, () => Told>> = { chat: inChat, responses: inResponses, anthropic: inMessages }

const telling =
  (dialect: Dialect): Reply =>
  async (response, { body }) => {
    const { frames, whole } = IN[dialect]()
    const isStream = body.stream !== false
    response.writeHead(200, { 'Content-Type': isStream ? 'text/event-stream' : 'application/json' })
    // All that it bills is told before it ends as it does, but for the last frames.
    const kept = lie.end === 'whole' ? frames : frames.slice(0, -1)
    const hasCounts = kept.some((frame) => frame.includes('_tokens'))
    isOnlyError = lie.end === 'an error' && isStream && !hasCounts
    isTold = lie.usage !== 'none' && lie.usage !== 'zero' && (isStream ? hasCounts : lie.content !== 'garbage')
    for (const frame of isStream ? kept : []) {
      // The usage comes apart from the content.
      if (lie.usage === 'behind all' && frame.includes('_tokens'))
        await new Promise((resolve) => setTimeout(resolve, 30))
      response.write(frame)
    }
    if (!isStream) response.write(whole)
    if (lie.end === 'an error' && isStream)
      response.write('data: {"type":"error","error":{"message":"x","code":500}}\n\n')
    if (lie.end === 'silence' && isStream) setTimeout(() => response.destroy(), 400)
    else response.end()
  }

const upstreams = Object.fromEntries(
  await Promise.all(DIALECTS.map(async (dialect) => [dialect, await openUpstream(telling(dialect))] as const)),
)
const entry = {
  chat: { type: 'openai' },
  responses: { type: 'openai', contract: 'responses' },
  anthropic: { type: 'anthropic' },
}
const gateway = await openFor(
  requireCatalog({
    providers: Object.fromEntries(DIALECTS.map((id) => [id, { ...entry[id], baseUrl: upstreams[id]?.url }])),
    models: DIALECTS.map((id) => ({
      id,
      contextLength: 100_000,
      maxOutputTokens: CAP,
      price: { input: '1', output: '2' },
      routes: [{ provider: id, model: 'm', idleTimeoutMs: 5_000, cost: { input: '1', output: '2' } }],
    })),
  }),
)
const { key, secret } = await gateway.issue({ credits: '1000', rpm: 60_000, dailyLoss: 10n ** 12n })

test(
  `each of ${LIES} answers that lie is paid for by its usage, or if none can be read, its loss is counted`,
  async () => {
    const random = new Random(SEED)
    const contracts = Object.entries(CONTRACT_BODIES).filter(([name]) => name !== 'completions')
    let lost = 0n
    for (let i = 0; i < LIES; i++) {
      lie = randomLie(random)
      const [dialect, [contract, { path, body }], stream] = [
        random.pick(DIALECTS),
        random.pick(contracts),
        random.chance(0.5),
      ]
      const { text: answer, row } = await gateway.ask({ ...body, model: dialect, stream }, { secret, path })
      // A provider that says that it failed, and no more, is believed.
      const { prompt, completion } = isOnlyError ? UNTOLD : lie.bill
      const bill = BigInt(prompt) * 1_000n + BigInt(completion) * 2_000n
      lost += row.loss ?? 0n
      const isCovered = (row.cost + (isTold ? 0n : (row.loss ?? 0n))) * 100n >= bill * 95n
      expect({
        i,
        lie,
        dialect,
        contract,
        stream,
        isCovered,
        row: isCovered || row,
        answer: isCovered || answer.slice(0, 300),
      }).toEqual({ i, lie, dialect, contract, stream, isCovered: true, row: true, answer: true })
      expect(row.cost).toBeLessThanOrEqual(row.hold)
      expect(row.attempts).toHaveLength(1)
    }
    const after = await gateway.readKey(key.id)
    expect(lossOf(after, Date.now())).toBe(lost)
    expect(gateway.logLines.filter((line) => line.includes('RangeError') || line.includes('TypeError'))).toEqual([])
  },
  LIES * 2_000,
)
