import { Readable } from 'node:stream'
import { requestContractOf } from '../../contracts/contracts.ts'
import type { Log } from '../../platform/log/log.ts'
import type { DropClaim, KeepAnswer } from '../../store/idempotency/answers.ts'
import { costFrame, KEEP_ALIVE_FRAME } from '../../wire/chat/frames.ts'
import type { GatewayRequest, PricedChat, Replay } from '../request.ts'
import { MOST_TEXT_CHARS } from './answer-cipher.ts'

type VaultDeps = {
  readonly keepAnswer: KeepAnswer
  readonly dropClaim: DropClaim
  readonly log: Log
}

/**
 * Stores answers for the requests that claim an Idempotency-Key. An answer is stored before it is settled: if we die in
 * between, it is given again and was free; the other way round it would be charged twice.
 */
export type AnswerVault = {
  /** Without a text, the claim is marked as answered by an answer too large to be kept. */
  keep(request: GatewayRequest, text: string | undefined): Promise<void>
  drop(request: GatewayRequest): Promise<void>
}

export function answerVault({ keepAnswer, dropClaim, log }: VaultDeps): AnswerVault {
  return {
    keep: ({ requestId, claim }, text) =>
      attempt('an answer could not be kept', requestId, async () => {
        if (claim) await keepAnswer(claim, text === undefined ? undefined : claim.cipher.encrypt(text))
      }),
    drop: ({ requestId, claim }) =>
      attempt('a claim could not be dropped', requestId, async () => {
        if (claim) await dropClaim(claim)
      }),
  }

  /** A failure costs the caller a replay, not the answer. */
  async function attempt(what: string, requestId: string, write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      log.problem(what, error, requestId)
    }
  }
}

/** The frames of a stream, kept for a retry. Beyond the size that can be stored nothing is kept at all. */
export class AnswerCopy {
  #frames: string[] = []
  #chars = 0

  add(...frames: readonly string[]): void {
    for (const frame of frames) {
      this.#chars += frame.length
      if (this.#chars <= MOST_TEXT_CHARS) this.#frames.push(frame)
      else this.#frames = []
    }
  }

  /** Undefined if the answer is too large to be kept. */
  get text(): string | undefined {
    return this.#chars <= MOST_TEXT_CHARS ? this.#frames.join('') : undefined
  }
}

/** The first answer once more, as it was, at no cost. */
export function replayAnswer({ text }: Replay, { endpoint, priced }: PricedChat, headerPrefix: string): Readable {
  const { lastFrame } = requestContractOf(endpoint)
  const frames = priced.chat.stream ? [KEEP_ALIVE_FRAME, text, costFrame(headerPrefix, 0n), lastFrame] : [text]
  return Readable.from([Buffer.from(frames.join(''))])
}
