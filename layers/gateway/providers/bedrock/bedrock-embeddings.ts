import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { Embedded, Embedding, Vector } from '../../domain/chat/embedding.ts'
import { embedderAt } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { waitAtMost } from '../../platform/retry.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { readVector } from '../../wire/chat/vectors.ts'
import { fieldTable, IGNORED, READ, requireSupported, rows } from '../conversation/field-table.ts'
import { parseObject } from '../http/json-reply.ts'
import { limitRequest } from '../limit-request.ts'
import type { EmbedCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'

/** One answer of InvokeModel: its body, and the billed tokens, not checked yet. */
export type Invoked = { readonly text: string; readonly inputTokens: unknown }
export type Invoke = (body: string) => Promise<Invoked>

type Maker = {
  readonly textsAtOnce: number
  readonly ask: (texts: readonly string[], call: EmbedCall) => JsonObject
  readonly vectorsIn: (answer: JsonObject) => readonly unknown[]
}

const MAKERS: Readonly<Record<NonNullable<ReturnType<typeof embedderAt>>, Maker>> = {
  titan: {
    textsAtOnce: 1,
    ask: ([inputText], { embedding: { dimensions } }) => ({ inputText, ...(dimensions && { dimensions }) }),
    vectorsIn: ({ embedding }) => [embedding],
  },
  cohere: {
    textsAtOnce: 96,
    ask: (texts, { embedding: { dimensions }, chat: { body } }) => ({
      texts,
      input_type: body.input_type ?? 'search_document',
      embedding_types: ['float'],
      ...(dimensions && { output_dimension: dimensions }),
      ...(typeof body.truncate === 'string' && { truncate: body.truncate }),
    }),
    vectorsIn: ({ embeddings }) => {
      const floats = isObject(embeddings) ? embeddings.float : embeddings
      return Array.isArray(floats) ? floats : []
    },
  },
}

const FIELDS = fieldTable({
  ...rows(['model', 'input', 'dimensions', 'encoding_format', 'input_type', 'truncate'], () => READ),
  user: IGNORED,
})

const CALLS_AT_ONCE = 8
/** A longer text has a call of its own. */
const MOST_CHARS_AT_ONCE = 256 * 1024

type Batch = readonly string[]
type Answered = { readonly vectors: readonly Vector[]; readonly tokens: number | undefined; readonly fault?: unknown }

/** The vectors of a batch, a few texts a call. A failure tells how much was embedded before. */
export async function embedAtBedrock(call: EmbedCall, invoke: Invoke): Promise<Embedding> {
  requireSupported(FIELDS, call.chat.body, call)
  const maker = makerOf(call.model)
  const batches = inBatches(textsOf(call), maker.textsAtOnce)
  const answers: Answered[] = Array(batches.length)
  let next = 0
  const work = async () => {
    for (let at = next++; at < batches.length; at = next++) {
      const batch = batches[at] ?? []
      const request = limitRequest(maker.ask(batch, call), call)
      const answer = readAnswer(await invoke(JSON.stringify(request)), batch, maker, call)
      // It is billed, whatever is in it.
      answers[at] = answer
      if (answer.fault) throw answer.fault
    }
  }
  const workers = Array.from({ length: Math.min(CALLS_AT_ONCE, batches.length) }, work)
  try {
    await Promise.all(workers)
  } catch (error) {
    next = batches.length
    await waitAtMost(Promise.allSettled(workers), PARTING_MS)
    const embedded = answers.flatMap(({ tokens }, at) => ({ inputs: batches[at] ?? [], usage: usageOf(tokens) }))
    throw new PartlyEmbedded(error, embedded)
  }
  return { vectors: answers.flatMap(({ vectors }) => vectors), usage: usageOf(tokensOf(answers)) }
}

export class PartlyEmbedded extends Error {
  readonly embedded: readonly Embedded[]

  constructor(cause: unknown, embedded: readonly Embedded[]) {
    super('A part of a batch was not embedded.', { cause })
    this.embedded = embedded
  }
}

/** Calls that are running are billed, so their answers are awaited for a little. */
const PARTING_MS = 3_000

function readAnswer({ text, inputTokens }: Invoked, batch: Batch, maker: Maker, call: EmbedCall): Answered {
  let tokens = countOf(inputTokens)
  try {
    const { object: answer } = parseObject(text)
    tokens = countOf(answer.inputTextTokenCount) ?? tokens
    const vectors = maker.vectorsIn(answer)
    if (vectors.length !== batch.length) {
      throw new UpstreamFailure('protocol', `Amazon Bedrock sent ${vectors.length} vectors for ${batch.length} texts.`)
    }
    return { vectors: vectors.map((vector) => readVector(vector, call.dimensions, call.embedding.format)), tokens }
  } catch (fault) {
    return { vectors: [], tokens, fault }
  }
}

function makerOf(model: string): Maker {
  const maker = embedderAt(model)
  if (maker) return MAKERS[maker]
  const message = 'Amazon Bedrock is asked for embeddings of a model whose words are not known.'
  throw new UpstreamFailure('model_not_found', message)
}

function textsOf({ embedding }: EmbedCall): readonly string[] {
  return embedding.inputs.map((input) => {
    if (typeof input === 'string') return input
    throw unsupported('input', 'must be texts: this model takes no token ids')
  })
}

function inBatches(texts: readonly string[], size: number): readonly Batch[] {
  const batches: string[][] = []
  let chars = 0
  for (const text of texts) {
    const batch = batches.at(-1)
    chars += text.length
    if (!batch || batch.length >= size || chars > MOST_CHARS_AT_ONCE) {
      batches.push([text])
      chars = text.length
    } else batch.push(text)
  }
  return batches
}

/** If one call did not count its tokens, the sum is unknown. Calls without an answer count nothing. */
function tokensOf(answers: readonly Answered[]): number | undefined {
  return answers.reduce<number | undefined>((sum, { tokens }) => {
    return sum === undefined || tokens === undefined ? undefined : sum + tokens
  }, 0)
}

function usageOf(tokens: number | undefined): unknown {
  return tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
