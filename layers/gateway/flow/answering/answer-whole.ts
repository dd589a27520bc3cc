import { contractOf } from '../../contracts/contracts.ts'
import { type Answer, type ChatPart, isWhole } from '../../domain/chat.ts'
import type { Nano } from '../../domain/money.ts'
import { type AdmittedChat, headOf } from '../../request.ts'
import { makeBill } from '../billing/make-bill.ts'
import { SETTLE_RESERVE_MS } from '../billing/settle.ts'
import { Tally } from '../billing/tally.ts'
import { startDeadline, waitAtMost } from '../deadline.ts'
import { askingChat } from '../routing/ask-chat.ts'
import { tryRoutes } from '../routing/try-routes.ts'
import type { ChatDeps } from './chat-deps.ts'
import { noteAnswered } from './end-route.ts'
import { toGatewayError } from './upstream-error.ts'

/**
 * The most characters of an answer that is not streamed. A longer one is cut, like one that reaches its output cap:
 * thrown away, it would be free to its caller and billed to us.
 */
const MOST_WHOLE_CHARS = 8 * 1024 * 1024

/** One JSON answer, settled before it is returned unless the database is away for long. A failure on the way delivers nothing, so it costs nothing. */
export async function answerWhole(deps: ChatDeps, request: AdmittedChat): Promise<string> {
  const { settlement } = request
  const { whole, tally } = await gatherAnswer(deps, request)
  noteAnswered(deps, request.journey, tally)
  const made = makeBill(deps, request, tally)
  const bill = made instanceof Promise ? await made : made
  const write = (cost: Nano) => JSON.stringify(whole.build({ bill: { ...bill, cost }, reported: tally.reported }))
  const text = write(bill.cost)
  if (request.claim) await deps.vault.keep(request, text)
  await waitAtMost(deps.settle(request, { outcome: 'completed', httpStatus: 200, bill }), deps.timing.settleMs)
  const cost = settlement.cost ?? bill.cost
  return cost === bill.cost ? text : write(cost)
}

/** True if all batches were taken. The batches after one that was refused are not read. */
async function everyBatch<T>(batches: AsyncIterable<T>, take: (batch: T) => boolean): Promise<boolean> {
  for await (const batch of batches) if (!take(batch)) return false
  return true
}

/** Nothing is delivered before an answer is whole, so a route that dies in the middle of one is replaced, too. */
async function gatherAnswer(deps: ChatDeps, request: AdmittedChat) {
  const endsAtMs = Math.min(request.deadlineMs - SETTLE_RESERVE_MS, request.nowMs + deps.timing.wholeAnswerMs)
  const seconds = Math.round((endsAtMs - request.nowMs) / 1000)
  const words = `An answer that is not streamed must be whole within ${seconds} s. Ask with "stream": true; it is then sent as it comes.`
  const deadline = startDeadline(endsAtMs, deps.clock(), words)
  const gather = (answer: Answer) => {
    const whole = contractOf(request.endpoint).openWhole(headOf(request))
    const tally = new Tally(request.priced)
    if (!request.journey.asksWhole) request.journey.firstPartMs = deps.clock() - request.nowMs
    const take = (parts: readonly ChatPart[]) => {
      for (const part of parts) {
        const said = tally.take(part)
        if (said) whole.add(said)
      }
      return !tally.isOver && whole.chars <= MOST_WHOLE_CHARS
    }
    const gathered = (isAll: boolean) => {
      if (!isAll) whole.cut()
      return { whole, tally }
    }
    return isWhole(answer) ? gathered(answer.every(take)) : everyBatch(answer, take).then(gathered)
  }
  try {
    return await tryRoutes(deps, request, deadline.signal, askingChat(request, deadline.signal, gather))
  } catch (error) {
    throw toGatewayError(error)
  } finally {
    deadline.clear()
  }
}
