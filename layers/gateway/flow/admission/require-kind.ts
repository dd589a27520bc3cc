import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { type EmbeddingRequest, MOST_NUMBERS } from '../../domain/chat/embedding.ts'
import { hasMoreTokens } from '../../domain/money/least-tokens.ts'
import { kindOf, MEDIA_KINDS, type PricedModel } from '../../domain/routing/catalog.ts'

/** Refuses chat with an embedding model, embeddings of a chat model, and what a model does not take or an answer cannot hold. */
export function requireKind({ embedding, body, media }: ChatRequest, model: PricedModel): void {
  if (embedding && kindOf(model) !== 'embedding') {
    throw wrong('model', `The model '${model.id}' makes no embeddings. GET /v1/models says what each model serves.`)
  }
  if (!embedding && kindOf(model) === 'embedding') {
    throw wrong('model', `The model '${model.id}' makes embeddings only: ask it with POST /v1/embeddings.`)
  }
  requireMedia(media, model)
  if (!embedding) return
  requireNumbers(embedding, model)
  if (!TRUNCATES.has(body.truncate)) requireLengths(embedding, model)
}

function requireMedia(media: ChatRequest['media'], { id, media: taken = MEDIA_KINDS }: PricedModel): void {
  const kind = MEDIA_KINDS.find((one) => media[one] > 0 && !taken.includes(one))
  if (kind === undefined && (media.any === 0 || taken.length > 0)) return
  const sent = kind === undefined ? 'an address, or data of an unknown kind' : `content of the kind '${kind}'`
  const takes = taken.length === 0 ? 'text only' : `text and ${taken.join(', ')}`
  throw badRequest('unsupported_parameter', `The prompt has ${sent}, but the model '${id}' takes ${takes}.`)
}

/** Values by which an upstream embeds the beginning or the end of a text that is too long. */
const TRUNCATES: ReadonlySet<unknown> = new Set(['START', 'END'])

/** A batch is embedded, and billed, in parts: one text that is too long would be found only after others are paid for. */
function requireLengths({ inputs }: EmbeddingRequest, { id, contextLength: most }: PricedModel): void {
  const place = inputs.findIndex(
    (input) => input.length > most && (typeof input !== 'string' || hasMoreTokens(input, most)),
  )
  if (place < 0) return
  const message = `'input[${place}]' is too long: the model '${id}' takes at most ${most} tokens of one text.`
  throw badRequest('context_length_exceeded', message, `input[${place}]`)
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
  return badRequest('invalid_value', message, param)
}
