import { kindOf, type PricedModel } from '../domain/catalog.ts'
import type { ChatRequest } from '../domain/chat.ts'
import { type EmbeddingRequest, MOST_NUMBERS } from '../domain/embedding.ts'
import { GatewayError } from '../domain/gateway-error.ts'

/** Refuses words of a model that makes embeddings, embeddings of one that has words, and more numbers than fit into one answer. */
export function requireKind({ embedding }: ChatRequest, model: PricedModel): void {
  if (embedding && kindOf(model) !== 'embedding') {
    throw wrong('model', `The model '${model.id}' makes no embeddings. GET /v1/models says what each model serves.`)
  }
  if (!embedding && kindOf(model) === 'embedding') {
    throw wrong('model', `The model '${model.id}' makes embeddings only: ask it with POST /v1/embeddings.`)
  }
  if (embedding) requireNumbers(embedding, model)
}

function requireNumbers({ inputs, dimensions }: EmbeddingRequest, { id, dimensions: most = 0 }: PricedModel): void {
  if (dimensions !== undefined && dimensions > most) {
    throw wrong(
      'dimensions',
      `'dimensions' is ${dimensions}, but a vector of the model '${id}' has at most ${most} numbers.`,
    )
  }
  const each = dimensions ?? most
  const room = Math.floor(MOST_NUMBERS / each)
  if (inputs.length <= room) return
  throw wrong(
    'input',
    `'input' has ${inputs.length} texts, but one answer holds at most ${MOST_NUMBERS} numbers: with ${each} to a vector, send at most ${room} texts at once.`,
  )
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param })
}
