import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { Embedding, Vector } from '../../domain/chat/embedding.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { readVector } from '../../wire/chat/vectors.ts'
import { errorInAnswer } from '../http/error-in-answer.ts'
import { readElements } from '../http/json-elements.ts'
import type { Reply } from '../http/post.ts'
import type { EmbedCall } from '../provider.ts'

/** The longest number in JSON, with the spaces before it. */
const BYTES_PER_NUMBER = 48
const SPARE_BYTES = 4 * 1024

/** The vectors of a batch, made from its JSON one by one: as text they would be many times as long. */
export async function readEmbedding(reply: Reply, call: EmbedCall, key: string | undefined): Promise<Embedding> {
  const { inputs, format } = call.embedding
  const found = new Map<number, Vector>()
  let count = 0
  let fault: unknown
  // A vector that cannot be used is no reason not to read the usage after it.
  const take = (element: JsonObject) => {
    if (!('embedding' in element) || fault) return
    try {
      if (count === inputs.length) throw wrongCount(inputs.length)
      // Some upstreams send no indexes: their vectors are in order.
      const place = Number.isSafeInteger(element.index) ? (element.index as number) : count
      found.set(place, readVector(element.embedding, call.dimensions, format))
      count += 1
    } catch (error) {
      fault = error
    }
  }
  let usage: unknown
  try {
    const rest = await readElements(reply, call.dimensions * BYTES_PER_NUMBER + SPARE_BYTES, take)
    usage = rest.usage
    if (rest.error) throw errorInAnswer(rest.error, key)
    if (fault) throw fault
    const vectors = inputs.map((_, place) => {
      const vector = found.get(place)
      if (!vector) throw wrongCount(inputs.length)
      return vector
    })
    return { vectors, usage }
  } catch (error) {
    const isBilled = error instanceof UpstreamFailure && (error.reason !== 'error_event' || usage !== undefined)
    throw isBilled ? error.withEmbedded([{ inputs, usage }]) : error
  }
}

function wrongCount(texts: number): UpstreamFailure {
  const message = `The upstream did not send one vector for each of the ${texts} texts it was given.`
  return new UpstreamFailure('protocol', message)
}
