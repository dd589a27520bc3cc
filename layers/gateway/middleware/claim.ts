import { GatewayError } from '../domain/gateway-error.ts'
import type { Claim, KeptAnswer } from '../domain/kept-answer.ts'
import type { Key } from '../domain/key.ts'
import type { AnswerKeeper } from '../flow/answer-keeper.ts'
import { AnswerSeal, answerId } from '../flow/answer-seal.ts'
import type { FinishHold } from '../flow/finish-hold.ts'
import { deadAtMs, type Passage } from '../flow/passage.ts'
import { type Gate, headerOf } from './gate.ts'
import { bearerToken } from './identify.ts'

export type ClaimDeps = {
  readonly claimAnswer: (claim: Claim, nowMs: number, deadRequestId?: string) => Promise<KeptAnswer | undefined>
  readonly findAnswer: (id: string, nowMs: number) => Promise<KeptAnswer | undefined>
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly finishHold: FinishHold
  readonly keeper: AnswerKeeper
}

const VISIBLE = /^[\x21-\x7e]{1,255}$/
const SOON = { headers: { 'Retry-After': '2' } }
const NEVER = { headers: { 'x-should-retry': 'false' } }

/**
 * An `Idempotency-Key` makes a retry safe: the first request with it answers, and whoever repeats it gets that answer
 * again. The claim is made after admission, so that a refused request writes none. A balance that is used up does not
 * keep a caller from an answer that it has paid for.
 */
export function claim({ claimAnswer, findAnswer, readKey, finishHold, keeper }: ClaimDeps): Gate {
  return {
    before: async ({ event, context: { passage } }) => {
      const name = headerOf(event, 'idempotency-key')
      const secret = bearerToken(headerOf(event, 'authorization'))
      const { credential, work, refusal } = passage
      const cannotPay = refusal?.kind === 'credit_balance_exhausted'
      if (name === undefined || !secret || !credential || !work || (refusal && !cannotPay)) return
      if (!VISIBLE.test(name)) {
        passage.refusal = notAName(name)
        return
      }
      const id = answerId(credential.key.id, name)
      const seal = new AnswerSeal(secret, id)
      const wanted: Claim = {
        id,
        requestId: passage.requestId,
        secretHash: credential.hash,
        bodyPrint: seal.print(event.body ?? ''),
        untilMs: deadAtMs(passage),
      }
      const found = cannotPay
        ? await findAnswer(id, passage.nowMs)
        : await claimOrFind(passage, wanted, credential.key.id)
      if (found) repeat(passage, found, wanted, seal)
      else if (!cannotPay) passage.claim = { ...wanted, seal }
    },
    onError: ({ context: { passage } }) => keeper.drop(passage),
  }

  function repeat(passage: Passage, found: KeptAnswer, wanted: Claim, seal: AnswerSeal): void {
    const refusal = whyNot(found, wanted)
    if (refusal) {
      passage.refusal = refusal
      return
    }
    delete passage.refusal
    if (found.sealed) passage.replay = { requestId: found.requestId, text: seal.open(found.sealed) }
  }

  /** A request that died with its claim is ended first: it cannot be charged any more when another takes its place. */
  async function claimOrFind(passage: Passage, wanted: Claim, keyId: string): Promise<KeptAnswer | undefined> {
    const found = await claimAnswer(wanted, passage.nowMs)
    if (found?.state !== 'running' || found.untilMs > passage.nowMs) return found
    const { requestId } = found
    const amount = (await readKey(keyId))?.holds[requestId]?.amount ?? 0n
    const row = await finishHold(keyId, { requestId, amount, untilMs: found.untilMs })
    if (row.cost > 0n) return { ...found, state: 'not_kept' }
    return claimAnswer(wanted, passage.nowMs, requestId)
  }
}

/** Why what was found is not this caller's answer; undefined if it is. */
function whyNot(found: KeptAnswer, wanted: Claim): GatewayError | undefined {
  const first = `The first request with this Idempotency-Key, ${found.requestId},`
  if (found.secretHash !== wanted.secretHash) {
    return new GatewayError(
      'idempotent_answer_not_kept',
      `${first} was made with the key's other secret, and only that one opens its answer.`,
      NEVER,
    )
  }
  if (found.bodyPrint !== wanted.bodyPrint) {
    return new GatewayError(
      'idempotency_key_reused',
      `${first} had another body. Send a new Idempotency-Key with every new request.`,
      NEVER,
    )
  }
  if (found.state === 'running') {
    return new GatewayError('idempotency_key_in_use', `${first} is still being answered. Try again in 2 s.`, SOON)
  }
  if (found.state === 'not_kept' || !found.sealed) {
    return new GatewayError(
      'idempotent_answer_not_kept',
      `${first} was answered and charged, but its answer was too large to be kept or could not be stored.`,
      NEVER,
    )
  }
  return undefined
}

function notAName(name: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The Idempotency-Key header must have 1 to 255 visible ASCII characters, such as a UUID; it has ${name.length}${VISIBLE.test(name.slice(0, 255)) ? '' : ', not all of them visible'}.`,
    { code: 'invalid_idempotency_key' },
  )
}
