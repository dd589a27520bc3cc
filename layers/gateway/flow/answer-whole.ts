import type { ChatPart } from '../domain/chat.ts'
import type { Nano } from '../domain/money.ts'
import { CompletionBuilder } from '../wire/completion.ts'
import { writeUsage } from '../wire/usage-counts.ts'
import type { ChatDeps } from './chat-deps.ts'
import { startDeadline } from './deadline.ts'
import { dispatch } from './dispatch.ts'
import { letterheadOf } from './letterhead.ts'
import { makeBill } from './make-bill.ts'
import type { AssessedWork, Passage } from './passage.ts'
import { SETTLE_RESERVE_MS } from './settle.ts'
import { settledWithin } from './settled-within.ts'
import { Tally } from './tally.ts'
import { toGatewayError } from './upstream-error.ts'

/**
 * What an answer that is not streamed may hold in memory, in characters. A longer one is cut, as one that reaches its
 * output cap is: thrown away, it would be free to its caller and billed to us.
 */
export const MOST_WHOLE_CHARS = 8 * 1024 * 1024

/** One JSON answer, settled before it is returned unless the database is away for long. A failure on the way delivers nothing, so it costs nothing. */
export async function answerWhole(deps: ChatDeps, passage: Passage, assessed: AssessedWork): Promise<string> {
  const work = assessed.chat
  const { completion, tally } = await gatherAnswer(deps, passage, assessed)
  if (passage.journey.route) deps.health.succeeded(passage.journey.route)
  const bill = await makeBill(work, tally, deps.loadTokenizer)
  const write = (cost: Nano) =>
    JSON.stringify(completion.build(letterheadOf(passage, work), writeUsage({ ...bill, cost }, tally.reported)))
  const text = write(bill.cost)
  if (passage.claim) await deps.keeper.keep(passage, text)
  passage.settling = deps.settle(passage, { outcome: 'completed', httpStatus: 200, bill })
  await settledWithin(passage.settling, deps.timing.settleMs)
  const cost = passage.cost ?? bill.cost
  return cost === bill.cost ? text : write(cost)
}

/** Nothing is delivered before an answer is whole, so a route that dies in the middle of one is replaced, too. */
async function gatherAnswer(deps: ChatDeps, passage: Passage, assessed: AssessedWork) {
  const endsAtMs = Math.min(passage.deadlineMs - SETTLE_RESERVE_MS, passage.nowMs + deps.timing.wholeAnswerMs)
  const seconds = Math.round((endsAtMs - passage.nowMs) / 1000)
  const words = `An answer that is not streamed must be whole within ${seconds} s. Ask with "stream": true; it is then sent as it comes.`
  const deadline = startDeadline(endsAtMs, deps.clock(), words)
  const gather = async (parts: AsyncIterable<ChatPart>) => {
    const completion = new CompletionBuilder()
    const tally = new Tally(assessed.chat)
    passage.journey.firstPartMs = deps.clock() - passage.nowMs
    for await (const part of parts) {
      tally.add(part)
      if (part.kind === 'choice') completion.add(part)
      if (completion.chars > MOST_WHOLE_CHARS) {
        completion.cut()
        break
      }
    }
    return { completion, tally }
  }
  try {
    return await dispatch(deps, assessed, passage.journey, deadline.signal, gather)
  } catch (error) {
    throw toGatewayError(error)
  } finally {
    deadline.clear()
  }
}
