import { embedderAt } from '../../domain/catalog.ts'
import type { Embedding, Vector } from '../../domain/embedding.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { isObject } from '../../wire/field-rules.ts'
import { readVector } from '../../wire/vectors.ts'
import { fieldTable, requireWords } from '../conversation/field-table.ts'
import { parseObject } from '../http/json-reply.ts'
import type { EmbedCall } from '../provider.ts'
import { requireHeld } from '../require-held.ts'
import { unsupported } from '../verdict.ts'

type Fields = Record<string, unknown>

/** One answer of InvokeModel: its body, and the tokens it is billed by, of unknown worth. */
export type Invoked = { readonly text: string; readonly inputTokens: unknown }
export type Invoke = (body: string) => Promise<Invoked>

/** How a maker's model is asked for a few texts, and what it answers. */
type Maker = {
  readonly textsAtOnce: number
  readonly ask: (texts: readonly string[], call: EmbedCall) => Fields
  readonly vectorsIn: (answer: Fields) => readonly unknown[]
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
  says: ['model', 'input', 'dimensions', 'encoding_format', 'input_type', 'truncate'],
  leavesOut: ['user'],
  lacks: {},
})

const CALLS_AT_ONCE = 8

/** The vectors of a batch, a few texts a call. */
export async function embedAtBedrock(call: EmbedCall, invoke: Invoke): Promise<Embedding> {
  requireWords(FIELDS, call.chat.body, call)
  const maker = makerOf(call.model)
  const batches = inBatches(textsOf(call), maker.textsAtOnce)
  const answers: { vectors: Vector[]; tokens: unknown }[] = Array(batches.length)
  let next = 0
  const work = async () => {
    for (let at = next++; at < batches.length; at = next++) {
      const batch = batches[at] ?? []
      const { text, inputTokens } = await invoke(JSON.stringify(requireHeld(maker.ask(batch, call), call.chat)))
      const answer = parseObject(text)
      const vectors = maker.vectorsIn(answer)
      if (vectors.length !== batch.length) {
        throw new UpstreamFailure(
          'protocol',
          `Amazon Bedrock sent ${vectors.length} vectors for ${batch.length} texts.`,
        )
      }
      answers[at] = {
        vectors: vectors.map((vector) => readVector(vector, call.dimensions, call.embedding.format)),
        tokens: answer.inputTextTokenCount ?? inputTokens,
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(CALLS_AT_ONCE, batches.length) }, work))
  return { vectors: answers.flatMap(({ vectors }) => vectors), usage: usageOf(answers.map(({ tokens }) => tokens)) }
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

function inBatches(texts: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, i) => texts.slice(i * size, (i + 1) * size))
}

/** What one call has not counted, nobody has. */
function usageOf(tokens: readonly unknown[]): unknown {
  let sum = 0
  for (const count of tokens) {
    if (!Number.isSafeInteger(count) || (count as number) < 0) return undefined
    sum += count as number
  }
  return { prompt_tokens: sum, total_tokens: sum }
}
