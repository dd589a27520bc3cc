import type { Readable } from 'node:stream'
import { contractOf } from '../../contracts/contracts.ts'
import type { Answer, ChatPart } from '../../domain/chat.ts'
import type { GatewayError } from '../../domain/gateway-error.ts'
import type { Nano } from '../../domain/money.ts'
import { type AdmittedChat, headOf } from '../../request.ts'
import { costFrame } from '../../wire/frames.ts'
import { makeBill } from '../billing/make-bill.ts'
import { billFailure } from '../billing/owed.ts'
import { endingOf, SETTLE_RESERVE_MS } from '../billing/settle.ts'
import { startDeadline, waitAtMost } from '../deadline.ts'
import { AnswerCopy } from '../idempotency/answer-vault.ts'
import { readAnswer } from '../read-answer.ts'
import { askingChat } from '../routing/ask-chat.ts'
import { tryRoutes } from '../routing/try-routes.ts'
import type { Tally } from '../tally.ts'
import type { ChatDeps } from './chat-deps.ts'
import { noteAnswered, noteBroken, settleFailure } from './end-route.ts'
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
  const ask = askingChat(request, deadline.signal, (begun, tally) => ({ begun, tally }))
  const answer = tryRoutes(deps, request, deadline.signal, ask)
  try {
    await waitAtMost(answer, deps.timing.commitAfterMs)
  } catch (error) {
    deadline.clear()
    throw await settleFailure(deps, request, error)
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
  answer: Promise<{ readonly begun: Answer; readonly tally: Tally }>,
  sink: FrameSink,
  signal: AbortSignal,
): Promise<void> {
  const { journey, settlement } = request
  const copy = request.claim && new AnswerCopy()
  const contract = contractOf(request.endpoint)
  const frames = contract.openStream(headOf(request))
  const write = (text: string) => {
    copy?.add(text)
    sink.write(text)
  }
  let tally: Tally | undefined
  try {
    const accepted = await answer
    tally = accepted.tally
    await readAnswer(accepted.begun, tally, takeInto(accepted.tally))
    noteAnswered(deps, journey, tally)
    const bill = await makeBill(deps, request, tally)
    const end = (cost: Nano) => frames.end({ bill: { ...bill, cost }, reported: accepted.tally.reported })
    const ending = end(bill.cost)
    copy?.add(ending)
    if (copy) await deps.vault.keep(request, copy.text)
    const settling = deps.settle(request, { outcome: 'completed', httpStatus: 200, bill })
    await waitAtMost(settling, deps.timing.settleMs)
    const cost = settlement.cost ?? bill.cost
    sink.end(cost === bill.cost ? ending : end(cost), costFrame(deps.headerPrefix, cost), contract.lastFrame)
    await settling
  } catch (error) {
    if (tally) noteBroken(deps, request, tally, error, signal)
    const failure = toGatewayError(error)
    const closing = failMidway(deps, request, failure)
    await waitAtMost(closing, deps.timing.settleMs)
    sink.end(frames.error(failure))
    await closing
  }

  function takeInto(counted: Tally) {
    return (parts: readonly ChatPart[]): Promise<void> | undefined => {
      journey.firstPartMs ??= deps.clock() - request.nowMs
      let text = ''
      try {
        for (const part of parts) {
          const said = counted.take(part)
          if (said) text += frames.choice(said)
        }
        if (counted.isOver || counted.isEmpty) for (const end of counted.endings()) text += frames.choice(end)
      } finally {
        // The text before a fault is delivered, and billed.
        write(text)
      }
      return sink.isFull ? sink.hasRoom() : undefined
    }
  }
}

/** The status is sent already: the failure is booked, and told in the stream. Never throws. */
async function failMidway(deps: ChatDeps, request: AdmittedChat, error: GatewayError): Promise<void> {
  if (error.kind === 'internal_error') deps.log.problem('a stream broke', error.cause, request.requestId)
  try {
    const bill = await billFailure(deps, request)
    const ending = endingOf(error)
    // An answer that is charged was neither refused nor abandoned.
    const outcome = bill.source === 'none' ? ending.outcome : 'upstream_error'
    await deps.settle(request, { ...ending, outcome, httpStatus: 200, bill })
    await deps.vault.drop(request)
  } catch (problem) {
    deps.log.unsettled(problem, request.requestId)
  }
}
