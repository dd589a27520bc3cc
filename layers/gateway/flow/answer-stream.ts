import type { Readable } from 'node:stream'
import type { ChatPart } from '../domain/chat.ts'
import type { ChatWork } from '../domain/chat-work.ts'
import type { GatewayError } from '../domain/gateway-error.ts'
import type { Nano } from '../domain/money.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { costFrame, DONE_FRAME, errorFrame, FrameWriter } from '../wire/frames.ts'
import { writeUsage } from '../wire/usage-counts.ts'
import { AnswerCopy } from './answer-copy.ts'
import type { ChatDeps } from './chat-deps.ts'
import { startDeadline } from './deadline.ts'
import { dispatch } from './dispatch.ts'
import { FrameSink } from './frame-sink.ts'
import { letterheadOf } from './letterhead.ts'
import { makeBill, makePartialBill } from './make-bill.ts'
import type { AssessedWork, Journey, Passage } from './passage.ts'
import { endingOf, SETTLE_RESERVE_MS } from './settle.ts'
import { settledWithin } from './settled-within.ts'
import { Tally } from './tally.ts'
import { toGatewayError } from './upstream-error.ts'

/**
 * A stream of frames. It throws as long as an honest status is possible; once it has returned, `passage.streaming`
 * resolves when the request is settled and the last frame written, and nothing is thrown any more.
 */
export async function answerStream(deps: ChatDeps, passage: Passage, assessed: AssessedWork): Promise<Readable> {
  const endsAtMs = passage.deadlineMs - SETTLE_RESERVE_MS
  const timeMs = endsAtMs - passage.nowMs
  const words = `The answer took longer than the ${Math.round(timeMs / 1000)} s it had.`
  const deadline = startDeadline(endsAtMs, deps.clock(), words)
  const parts = dispatch(deps, assessed, passage.journey, deadline.signal, (answer) => answer)
  try {
    await settledWithin(parts, deps.timing.commitAfterMs)
  } catch (error) {
    deadline.clear()
    throw toGatewayError(error)
  }
  // A client that is behind at the end is left, in time for its upstream to be drained and billed as usual.
  const drainMs = Math.min(deps.timing.drainMs, timeMs / 4)
  const patience = startDeadline(endsAtMs - drainMs, deps.clock(), words)
  const sink = new FrameSink(deps.timing.keepAliveMs, patience.signal)
  passage.streaming = relay(deps, passage, assessed.chat, parts, sink, deadline.signal).finally(() => {
    patience.clear()
    deadline.clear()
  })
  return sink.body
}

async function relay(
  deps: ChatDeps,
  passage: Passage,
  work: ChatWork,
  parts: Promise<AsyncIterable<ChatPart>>,
  sink: FrameSink,
  signal: AbortSignal,
): Promise<void> {
  const tally = new Tally(work)
  const copy = passage.claim && new AnswerCopy()
  const frames = new FrameWriter(letterheadOf(passage, work), work.request.includeUsage)
  try {
    for await (const part of await parts) {
      passage.journey.firstPartMs ??= deps.clock() - passage.nowMs
      tally.add(part)
      if (part.kind !== 'choice') continue
      const frame = frames.choice(part)
      copy?.add(frame)
      await sink.write(frame)
    }
    if (passage.journey.route) deps.health.succeeded(passage.journey.route)
    const bill = await makeBill(work, tally, deps.loadTokenizer)
    const usageFrames = (cost: Nano) =>
      work.request.includeUsage ? [frames.usage(writeUsage({ ...bill, cost }, tally.reported))] : []
    copy?.add(...usageFrames(bill.cost))
    if (copy) await deps.keeper.keep(passage, copy.text)
    const settling = deps.settle(passage, { outcome: 'completed', httpStatus: 200, bill })
    await settledWithin(settling, deps.timing.settleMs)
    const cost = passage.cost ?? bill.cost
    sink.end(...usageFrames(cost), costFrame(deps.headerPrefix, cost), DONE_FRAME)
    await settling
  } catch (error) {
    noteFailure(deps, passage.journey, error, signal)
    const failure = toGatewayError(error)
    const closing = failMidway(deps, passage, work, tally, failure)
    await settledWithin(closing, deps.timing.settleMs)
    sink.end(errorFrame(failure))
    await closing
  }
}

/** A route that dies in the middle of its answers rests as one that never begins. Our own deadline is not its fault. */
function noteFailure({ health, log, clock }: ChatDeps, journey: Journey, error: unknown, deadline: AbortSignal): void {
  if (!(error instanceof UpstreamFailure) || error.isCallers || deadline.aborted) return
  if (!journey.route || !journey.provider) return
  health.failed(journey.route, error, clock())
  log.upstreamFailed(journey.provider, error)
}

/** The status is out already: the failure is booked, and told in the stream. Never throws. */
async function failMidway(
  deps: ChatDeps,
  passage: Passage,
  work: ChatWork,
  tally: Tally,
  error: GatewayError,
): Promise<void> {
  if (error.kind === 'internal_error') deps.log.problem('a stream broke', error.cause, passage.requestId)
  try {
    const bill = await makePartialBill(work, tally, deps.loadTokenizer)
    const ending = endingOf(error)
    // What was delivered is charged, so it was neither refused nor abandoned.
    const outcome = tally.deliveredAnything ? 'upstream_error' : ending.outcome
    await deps.settle(passage, { ...ending, outcome, httpStatus: 200, bill })
    await deps.keeper.drop(passage)
  } catch (problem) {
    deps.log.unsettled(problem, passage.requestId)
  }
}
