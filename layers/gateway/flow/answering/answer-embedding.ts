import { Readable } from 'node:stream'
import { writeEmbedding } from '../../contracts/embeddings/embeddings.ts'
import { isBeyondLoss } from '../../domain/admission/counters.ts'
import { MOST_TEXT_CHARS } from '../../domain/admission/idempotency.ts'
import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { Embedded, Embedding, EmbeddingRequest } from '../../domain/chat/embedding.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { UpstreamRoute } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { makeEmbeddingBill } from '../billing/bill-embedding.ts'
import { toldTokens } from '../billing/make-bill.ts'
import { endingOf, settleInTime } from '../billing/settle.ts'
import { wholeDeadline } from '../deadline.ts'
import { type AdmittedChat, headOf } from '../request.ts'
import { askEmbedding } from '../routing/ask-embedding.ts'
import { type AskedRoute, tryRoutes } from '../routing/try-routes.ts'
import type { ChatDeps } from './chat-deps.ts'
import { toGatewayError } from './upstream-error.ts'

/** The longest number in an answer. */
const CHARS_PER_NUMBER = { float: 24, base64: 6 }

/** The vectors of a batch, settled before they are returned. A failure costs the part that was embedded before it. */
export async function answerEmbedding(deps: ChatDeps, request: AdmittedChat): Promise<Readable | string> {
  const { journey, settlement } = request
  const { embedding: wanted } = request.priced.chat
  if (!wanted) throw new Error('This request asks for no embedding.')
  const embedding = await embed(deps, request, wanted)
  if (journey.route) deps.health.succeeded(journey.route)
  const bill = await makeEmbeddingBill(deps, request, embedding.usage, wanted.inputs)
  const write = (cost: Nano) => writeEmbedding(headOf(request), embedding, { tokens: bill.quantities.prompt, cost })
  const numbers = embedding.vectors.reduce((sum, { length }) => sum + length, 0)
  // An answer that is too long to be kept for a replay is too long to be in memory at once.
  const isLong = numbers * CHARS_PER_NUMBER[wanted.format] > MOST_TEXT_CHARS
  const text = isLong ? undefined : [...write(bill.cost)].join('')
  if (request.claim) await request.claim.keep(text)
  await settleInTime(deps, request, { outcome: 'completed', httpStatus: 200, bill })
  const cost = settlement.cost ?? bill.cost
  if (text !== undefined) return cost === bill.cost ? text : [...write(cost)].join('')
  return Readable.from(write(cost).map((piece) => Buffer.from(piece)))
}

async function embed(deps: ChatDeps, request: AdmittedChat, wanted: EmbeddingRequest): Promise<Embedding> {
  const words = (seconds: number) => `An embedding must be whole within ${seconds} s. Send fewer texts at once.`
  const deadline = wholeDeadline(request, deps, words)
  const parts: Part[] = []
  const ask = async (asked: AskedRoute) => {
    try {
      return await askEmbedding(asked, request, wanted, deadline.signal)
    } catch (error) {
      const embedded = error instanceof UpstreamFailure && error.detail.embedded
      for (const part of embedded || []) parts.push({ route: asked.candidate.route, ...part })
      throw error
    }
  }
  try {
    return await tryRoutes(deps, request, deadline.signal, ask)
  } catch (error) {
    const told = toGatewayError(error)
    const [owed] = request.journey.owed ?? []
    // Beyond the bound on loss nothing is given away, also if nobody knows what was embedded.
    if (owed && parts.length === 0 && isBeyondLoss(request.credential.key, request.nowMs, deps)) {
      parts.push({ route: owed.candidate.route, inputs: wanted.inputs, usage: undefined })
    }
    await chargeParts(deps, request, parts, told)
    throw told
  } finally {
    deadline.clear()
  }
}

type Part = Embedded & { readonly route: UpstreamRoute }

/** The upstreams bill the texts that they embedded, and a caller could choose a batch that fails at its end. */
async function chargeParts(deps: ChatDeps, request: AdmittedChat, parts: readonly Part[], error: GatewayError) {
  const last = parts.at(-1)
  if (!last) return
  const { provider, model: upstreamModel, cost } = last.route
  Object.assign(request.journey, { provider, upstreamModel, ...(cost && { cost }) })
  const counted = parts.reduce((sum, { usage }) => sum + (toldTokens(usage) ?? 0), 0)
  const uncounted = parts.flatMap(({ inputs, usage }) => (toldTokens(usage) ? [] : inputs))
  const bill = await makeEmbeddingBill(deps, request, undefined, uncounted, counted)
  // It is charged, so it was neither refused nor abandoned.
  await settleInTime(deps, request, { ...endingOf(error), outcome: 'upstream_error', bill })
}
