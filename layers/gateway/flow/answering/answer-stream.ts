import type { Readable } from 'node:stream'
import { contractOf } from '../../contracts/contracts.ts'
import type { Answer } from '../../domain/chat.ts'
import type { GatewayError } from '../../domain/gateway-error.ts'
import type { Nano } from '../../domain/money.ts'
import { type AdmittedChat, headOf } from '../../request.ts'
import { costFrame } from '../../wire/frames.ts'
import { makeBill, makePartialBill } from '../billing/make-bill.ts'
import { endingOf, SETTLE_RESERVE_MS } from '../billing/settle.ts'
import { Tally } from '../billing/tally.ts'
import { startDeadline, waitAtMost } from '../deadline.ts'
import { AnswerCopy } from '../idempotency/answer-vault.ts'
import { askingChat } from '../routing/ask-chat.ts'
import { tryRoutes } from '../routing/try-routes.ts'
import type { ChatDeps } from './chat-deps.ts'
import { noteAnswered, noteBroken } from './end-route.ts'
import { FrameSink } from './frame-sink.ts'
import { toGatewayError } from './upstream-error.ts'

/**
 * A stream of frames. It throws as long as an honest status is possible; once it has returned, `settlement.streaming`
 * resolves when the request is settled and the last frame written, and nothing is thrown any more.
 */
export async function answerStream(deps: ChatDeps, request: AdmittedChat): Promise<Readable> {
  const endsAtMs = request.deadlineMs - SETTLE_RESERVE_MS
  const timeMs = endsAtMs - request.nowMs
  const words = `The answer took longer than the ${Math.round(timeMs / 1000)} s it had.`
  const deadline = startDeadline(endsAtMs, deps.clock(), words)
  const ask = askingChat(request, deadline.signal, (begun) => begun)
  const answer = tryRoutes(deps, request, deadline.signal, ask)
  try {
    await waitAtMost(answer, deps.timing.commitAfterMs)
  } catch (error) {
    deadline.clear()
    throw toGatewayError(error)
  }
  // A client that is still behind at this deadline is left, in time for its upstream to be drained and billed as usual.
  const drainMs = Math.min(deps.timing.drainMs, timeMs / 4)
  const clientDeadline = startDeadline(endsAtMs - drainMs, deps.clock(), words)
  const sink = new FrameSink(deps.timing.keepAliveMs, clientDeadline.signal)
  request.settlement.streaming = relay(deps, request, answer, sink, deadline.signal).finally(() => {
    clientDeadline.clear()
    deadline.clear()
  })
  return sink.body
}

async function relay(
  deps: ChatDeps,
  request: AdmittedChat,
  answer: Promise<Answer>,
  sink: FrameSink,
  signal: AbortSignal,
): Promise<void> {
  const { priced, journey, settlement } = request
  const tally = new Tally(priced)
  const copy = request.claim && new AnswerCopy()
  const contract = contractOf(request.endpoint)
  const frames = contract.openStream(headOf(request))
  try {
    for await (const parts of await answer) {
      journey.firstPartMs ??= deps.clock() - request.nowMs
      let text = ''
      try {
        for (const part of parts) {
          const said = tally.take(part)
          if (said) text += frames.choice(said)
        }
        if (tally.isOver) for (const end of tally.endings()) text += frames.choice(end)
      } finally {
        // The text before a fault is delivered, and billed.
        copy?.add(text)
        sink.write(text)
      }
      if (tally.isOver) break
      if (sink.isFull) await sink.hasRoom()
    }
    noteAnswered(deps, journey, tally)
    const bill = await makeBill(deps, request, tally)
    const end = (cost: Nano) => frames.end({ bill: { ...bill, cost }, reported: tally.reported })
    const ending = end(bill.cost)
    copy?.add(ending)
    if (copy) await deps.vault.keep(request, copy.text)
    const settling = deps.settle(request, { outcome: 'completed', httpStatus: 200, bill })
    await waitAtMost(settling, deps.timing.settleMs)
    const cost = settlement.cost ?? bill.cost
    sink.end(cost === bill.cost ? ending : end(cost), costFrame(deps.headerPrefix, cost), contract.lastFrame)
    await settling
  } catch (error) {
    noteBroken(deps, request, error, signal)
    const failure = toGatewayError(error)
    const closing = failMidway(deps, request, tally, failure)
    await waitAtMost(closing, deps.timing.settleMs)
    sink.end(frames.error(failure))
    await closing
  }
}

/** The status is sent already: the failure is booked, and told in the stream. Never throws. */
async function failMidway(deps: ChatDeps, request: AdmittedChat, tally: Tally, error: GatewayError): Promise<void> {
  if (error.kind === 'internal_error') deps.log.problem('a stream broke', error.cause, request.requestId)
  try {
    const bill = await makePartialBill(deps, request, tally)
    const ending = endingOf(error)
    // A partly delivered answer is charged, so it was neither refused nor abandoned.
    const outcome = tally.deliveredAnything ? 'upstream_error' : ending.outcome
    await deps.settle(request, { ...ending, outcome, httpStatus: 200, bill })
    await deps.vault.drop(request)
  } catch (problem) {
    deps.log.unsettled(problem, request.requestId)
  }
}
