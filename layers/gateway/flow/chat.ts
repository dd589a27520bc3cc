import type { Readable } from 'node:stream'
import { contractOf } from '../contracts/contracts.ts'
import { waitAtMost } from '../platform/retry.ts'
import { admit, refusingAfterAdmission } from './admission/admit.ts'
import { readAndPrice } from './admission/read-and-price.ts'
import { answerWhole } from './answering/answer-whole.ts'
import type { ChatDeps } from './answering/chat-deps.ts'
import { streamedAnswer } from './answering/streamed-answer.ts'
import type { Tally } from './answering/tally.ts'
import { settleFailure } from './answering/upstream-error.ts'
import { makeBill } from './billing/make-bill.ts'
import { streamDeadlines } from './deadline.ts'
import { replayAnswer } from './idempotency/replay-answer.ts'
import type { AdmittedChat, GatewayAnswer, GatewayEvent, IdentifiedRequest } from './request.ts'
import { askChat, readAnswer } from './routing/ask-chat.ts'
import { type AskedRoute, tryRoutes } from './routing/try-routes.ts'

type Body = GatewayAnswer['body']

/**
 * A chat, from top to bottom. Middy has matched its endpoint, and checked its key (401), scope and address (403). From here
 * on every call counts against its key's limits and leaves a row, also one that is refused.
 */
export async function chat(deps: ChatDeps, request: IdentifiedRequest, event: GatewayEvent): Promise<Body> {
  const read = () => readAndPrice(deps, request, event)
  const asked = await refusingAfterAdmission(deps, request, read) // 400 404 405 413
  const { admitted, unpaid } = await admit(deps, asked) // 401 403 404 429: the one write before the upstream
  try {
    const isRepeatable = event.headers['idempotency-key'] !== undefined
    const replay = isRepeatable ? await deps.claimOrReplay(admitted, event, unpaid !== undefined) : undefined // 400 409 422
    if (replay) return replayAnswer(replay, admitted, deps.headerPrefix)
    if (unpaid) throw unpaid // 402, 429 for credits of a day or a month
    return await answer(deps, admitted) // 502 503 504
  } catch (error) {
    const { claim }: AdmittedChat = admitted
    await claim?.drop()
    throw error
  }
}

async function answer(deps: ChatDeps, request: AdmittedChat): Promise<Body> {
  const { stream, embedding } = request.priced.chat
  if (stream) return answerStream(deps, request)
  if (!request.endpoint.countsOnly && !embedding) return answerWhole(deps, request)
  const { answerCount, answerEmbedding } = await import('#answers')
  return embedding ? answerEmbedding(deps, request) : answerCount(deps, request, contractOf(request.endpoint))
}

/** Until the first words have come, or ten seconds have passed, a failure has its honest status. */
async function answerStream(deps: ChatDeps, request: AdmittedChat): Promise<Readable> {
  const deadlines = streamDeadlines(request, deps)
  const { signal } = deadlines
  const ask = async (route: AskedRoute) => ({ answer: await askChat(route, request, signal), tally: route.tally })
  const first = tryRoutes(deps, request, signal, ask)
  try {
    await waitAtMost(first, deps.timing.commitAfterMs)
  } catch (error) {
    deadlines.clear()
    throw await settleFailure(deps, request, error) // 502 503 504
  }
  const streamed = streamedAnswer(deps, request, deadlines.client)
  request.settlement.streaming = relay().finally(deadlines.clear)
  return streamed.body

  /** Never throws: from here on a failure is told in the stream, which costs what was delivered. */
  async function relay(): Promise<void> {
    let tally: Tally | undefined
    try {
      const begun = await first
      tally = begun.tally
      await readAnswer(begun.answer, begun.tally, (parts) => streamed.write(parts, begun.tally))
      const bill = await makeBill(deps, request, begun.tally)
      await streamed.settleAndEnd(bill, begun.tally)
    } catch (error) {
      await streamed.settleAndFail(error, tally, signal)
    }
  }
}
