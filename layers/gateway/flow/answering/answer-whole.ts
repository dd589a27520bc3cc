import { contractOf } from '../../contracts/contracts.ts'
import type { Answer, ChatPart } from '../../domain/chat/chat.ts'
import type { Nano } from '../../domain/money/money.ts'
import { makeBill } from '../billing/make-bill.ts'
import { settleInTime } from '../billing/settle.ts'
import { wholeDeadline } from '../deadline.ts'
import { type AdmittedChat, headOf } from '../request.ts'
import { askChat, readAnswer } from '../routing/ask-chat.ts'
import { noteAnswered, tryRoutes } from '../routing/try-routes.ts'
import type { ChatDeps } from './chat-deps.ts'
import type { Tally } from './tally.ts'
import { settleFailure } from './upstream-error.ts'

/** A longer answer is cut, as at its output cap: thrown away, it would be paid for and reach nobody. */
const MOST_WHOLE_CHARS = 8 * 1024 * 1024

/** One JSON answer, settled before it is returned unless the database is away for long. */
export async function answerWhole(deps: ChatDeps, request: AdmittedChat): Promise<string> {
  const { whole, tally } = await gatherAnswer(deps, request)
  noteAnswered(deps, request.journey, tally)
  const made = makeBill(deps, request, tally)
  const bill = made instanceof Promise ? await made : made
  const ended = { reported: tally.reported, endedMs: deps.clock() }
  const write = (cost: Nano) => JSON.stringify(whole.build({ bill: { ...bill, cost }, ...ended }))
  const text = write(bill.cost)
  if (request.claim) await request.claim.keep(text)
  await settleInTime(deps, request, { outcome: 'completed', httpStatus: 200, bill })
  const cost = request.settlement.cost ?? bill.cost
  return cost === bill.cost ? text : write(cost)
}

/** Nothing is delivered before an answer is whole, so a route that dies in the middle of one is replaced, too. */
async function gatherAnswer(deps: ChatDeps, request: AdmittedChat) {
  const words = (seconds: number) =>
    `An answer that is not streamed must be whole within ${seconds} s. Ask with "stream": true; it is then sent as it comes.`
  const deadline = wholeDeadline(request, deps, words)
  const gather = (answer: Answer, tally: Tally) => {
    const whole = contractOf(request.endpoint).openWhole(headOf(request))
    if (!request.journey.asksWhole) request.journey.firstPartMs = deps.clock() - request.nowMs
    const take = (parts: readonly ChatPart[]) => {
      for (const part of parts) {
        const said = tally.take(part)
        if (said) whole.add(said)
      }
      if (whole.chars > MOST_WHOLE_CHARS) tally.close()
    }
    const gathered = () => {
      if (tally.isClosed) whole.cut()
      if (tally.isEmpty) for (const end of tally.endings()) whole.add(end)
      return { whole, tally }
    }
    const reading = readAnswer(answer, tally, take)
    return reading ? reading.then(gathered) : gathered()
  }
  try {
    return await tryRoutes(deps, request, deadline.signal, async (route) =>
      gather(await askChat(route, request, deadline.signal), route.tally),
    )
  } catch (error) {
    throw await settleFailure(deps, request, error)
  } finally {
    deadline.clear()
  }
}
