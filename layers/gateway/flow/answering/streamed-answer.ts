import { Readable } from 'node:stream'
import { contractOf } from '../../contracts/contracts.ts'
import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChatPart } from '../../domain/chat/chat.ts'
import type { Bill } from '../../domain/money/bill.ts'
import type { Nano } from '../../domain/money/money.ts'
import { waitAtMost } from '../../platform/retry.ts'
import { costFrame, KEEP_ALIVE_FRAME } from '../../wire/chat/frames.ts'
import { billFailure } from '../billing/owed.ts'
import { endingOf } from '../billing/settle.ts'
import { type AdmittedChat, headOf } from '../request.ts'
import { noteAnswered, noteBroken } from '../routing/try-routes.ts'
import type { ChatDeps } from './chat-deps.ts'
import type { Tally } from './tally.ts'
import { toGatewayError } from './upstream-error.ts'

/** An answer on its way to its client, frame by frame, and to its claim if a retry may ask for it again. */
export function streamedAnswer(deps: ChatDeps, request: AdmittedChat, clientDeadline: AbortSignal) {
  const { clock, log, settle, timing, headerPrefix } = deps
  const { openStream, lastFrame } = contractOf(request.endpoint)
  const frames = openStream(headOf(request))
  const sink = new FrameSink(timing.keepAliveMs, clientDeadline)
  const { claim } = request
  const copy = claim?.newCopy()
  return { body: sink.body, write, settleAndEnd, settleAndFail }

  /** Writes parts as they come. A promise is for the client to catch up. */
  function write(parts: readonly ChatPart[], tally: Tally): Promise<void> | undefined {
    request.journey.firstPartMs ??= clock() - request.nowMs
    let text = ''
    try {
      for (const part of parts) {
        const said = tally.take(part)
        if (said) text += frames.choice(said)
      }
      if (tally.isOver || tally.isEmpty) for (const end of tally.endings()) text += frames.choice(end)
    } finally {
      // The text before a fault is delivered, and billed.
      copy?.add(text)
      sink.write(text)
    }
    return sink.isFull ? sink.hasRoom() : undefined
  }

  async function settleAndEnd(bill: Bill, tally: Tally): Promise<void> {
    noteAnswered(deps, request.journey, tally)
    const ended = { reported: tally.reported, endedMs: clock() }
    const written = (cost: Nano) => frames.end({ bill: { ...bill, cost }, ...ended })
    const ending = written(bill.cost)
    copy?.add(ending)
    if (copy) await claim?.keep(copy.text)
    const settling = settle(request, { outcome: 'completed', httpStatus: 200, bill })
    await waitAtMost(settling, timing.settleMs)
    const cost = request.settlement.cost ?? bill.cost
    sink.end(cost === bill.cost ? ending : written(cost), costFrame(headerPrefix, cost), lastFrame)
    await settling
  }

  /** The status is sent already: the failure is booked, and told in the stream. Never throws. */
  async function settleAndFail(error: unknown, tally: Tally | undefined, deadline: AbortSignal): Promise<void> {
    if (tally) noteBroken(deps, request, tally, error, deadline)
    const failure = toGatewayError(error)
    const settling = settleFailed(failure)
    await waitAtMost(settling, timing.settleMs)
    sink.end(frames.error(failure))
    await settling
  }

  async function settleFailed(failure: GatewayError): Promise<void> {
    if (failure.kind === 'internal_error') log.problem('a stream broke', failure.cause, request.requestId)
    try {
      const bill = await billFailure(deps, request)
      const ending = endingOf(failure)
      // An answer that is charged was neither refused nor abandoned.
      const outcome = bill.source === 'none' ? ending.outcome : 'upstream_error'
      await settle(request, { ...ending, outcome, httpStatus: 200, bill })
      await claim?.drop()
    } catch (problem) {
      log.unsettled(problem, request.requestId)
    }
  }
}

// The most bytes that a client may be behind before the upstream waits for it. Nearly every answer fits, so a client
// cannot keep an upstream, which bills the tokens it generates, from reporting its counts.
const MOST_WAITING_BYTES = 8 * 1024 * 1024

function nobody(): void {}

/** The client's end of a stream: bounded in the bytes that wait for the client, and never silent for long. */
class FrameSink {
  readonly body: Readable
  readonly #heartbeat: NodeJS.Timeout
  readonly #deadline: AbortSignal
  #wake = nobody
  #hasEnded = false

  /** A client that is behind when `deadline` aborts counts as one that left. */
  constructor(keepAliveMs: number, deadline: AbortSignal) {
    this.#deadline = deadline
    this.body = new Readable({ highWaterMark: MOST_WAITING_BYTES, read: () => this.#wake() })
    this.#heartbeat = setInterval(() => this.write(KEEP_ALIVE_FRAME), keepAliveMs)
    // A client that left closes this stream; the answer is still drained and billed.
    this.body.on('error', () => {})
    this.body.once('close', () => this.#wake())
    // Lambda may hold a stream's first small write back until the second, and this one can wait.
    this.write(KEEP_ALIVE_FRAME)
  }

  /** True if the client is too far behind. A client that is gone, or counts as gone, is not. */
  get isFull(): boolean {
    return this.#isOpen && this.body.readableLength >= MOST_WAITING_BYTES
  }

  write(frames: string): void {
    if (frames === '' || !this.#isOpen) return
    this.#heartbeat.refresh()
    this.body.push(frames)
  }

  /** Waits until the client has caught up; one that has not at the deadline counts as gone. */
  async hasRoom(): Promise<void> {
    const giveUp = () => this.end()
    this.#deadline.addEventListener('abort', giveUp, { once: true })
    if (this.#deadline.aborted) giveUp()
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#wake = nobody
    this.#deadline.removeEventListener('abort', giveUp)
  }

  end(...frames: readonly string[]): void {
    clearInterval(this.#heartbeat)
    if (!this.#isOpen) return
    for (const frame of frames) if (frame !== '') this.body.push(frame)
    this.#hasEnded = true
    this.body.push(null)
    this.#wake()
  }

  get #isOpen(): boolean {
    return !this.#hasEnded && !this.body.destroyed
  }
}
