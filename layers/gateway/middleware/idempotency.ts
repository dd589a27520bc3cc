import { badRequest, ERRORS, GatewayError } from '../domain/gateway-error.ts'
import type { AnswerClaim, KeptAnswer } from '../domain/idempotency.ts'
import type { FinishHold } from '../flow/billing/finish-hold.ts'
import { AnswerCipher, answerId } from '../flow/idempotency/answer-cipher.ts'
import type { AnswerVault } from '../flow/idempotency/answer-vault.ts'
import { type Admission, deadAtMs, type Idempotency, type PricedChat } from '../request.ts'
import type { ClaimAnswer, FindAnswer } from '../store/answers.ts'
import type { ReadKey } from '../store/keys/read-key.ts'
import { type Gate, type GatewayEvent, headerOf } from './gate.ts'
import { secretOf } from './identify.ts'

type IdempotencyDeps = {
  readonly claimAnswer: ClaimAnswer
  readonly findAnswer: FindAnswer
  readonly readKey: ReadKey
  readonly finishHold: FinishHold
  readonly vault: AnswerVault
}

const VISIBLE = /^[\x21-\x7e]{1,255}$/

type Admitted = PricedChat & Admission

/**
 * An `Idempotency-Key` makes a retry safe: the first request with it answers, and a repetition gets that answer again.
 * The claim is made after admission, so that a refused request writes none. A balance that is used up does not keep a
 * caller from an answer that it has paid for.
 */
export function idempotency(deps: IdempotencyDeps): Gate<Admitted, Admitted & Idempotency> {
  const { claimAnswer, findAnswer, readKey, finishHold, vault } = deps
  return {
    pass: (request, event) => {
      const name = headerOf(event, 'idempotency-key')
      return name === undefined ? request : answerOnce(request, event, name)
    },
    failed: (request) => vault.drop(request),
  }

  async function answerOnce(request: Admitted, event: GatewayEvent, name: string): Promise<Admitted & Idempotency> {
    const secret = secretOf(event)
    const { credential, priced, refusal } = request
    const cannotPay = refusal !== undefined && ERRORS[refusal.kind].spendsToken === true
    if (!secret || !priced || (refusal && !cannotPay)) return request
    if (!VISIBLE.test(name)) return Object.assign(request, { refusal: notAName(name) })
    const id = answerId(credential.key.id, name)
    const cipher = new AnswerCipher(secret, id)
    const claim: AnswerClaim = {
      id,
      requestId: request.requestId,
      secretHash: credential.hash,
      // The same body at another endpoint is another request.
      bodyPrint: cipher.fingerprint(`${request.endpoint.name}\n${event.body ?? ''}`),
      untilMs: deadAtMs(request),
    }
    const found = cannotPay ? await findAnswer(id, request.nowMs) : await claimOrFind(request, claim)
    if (!found) return cannotPay ? request : Object.assign(request, { claim: { ...claim, cipher } })
    const notThis = whyNotReplayed(found, claim)
    if (notThis) return Object.assign(request, { refusal: notThis })
    const replay = found.sealed && { requestId: found.requestId, text: cipher.decrypt(found.sealed) }
    return Object.assign(request, { priced, refusal: undefined, replay })
  }

  /** A request that died with its claim is settled first: it cannot be charged any more once another takes its place. */
  async function claimOrFind({ credential, nowMs }: Admitted, claim: AnswerClaim): Promise<KeptAnswer | undefined> {
    const found = await claimAnswer(claim, nowMs)
    if (found?.state !== 'running' || found.untilMs > nowMs) return found
    const { requestId } = found
    const keyId = credential.key.id
    const hold = (await readKey(keyId))?.holds[requestId] ?? { amount: 0n, untilMs: found.untilMs }
    const row = await finishHold(keyId, { requestId, ...hold })
    if (row.cost > 0n) return { ...found, state: 'not_kept' }
    return claimAnswer(claim, nowMs, requestId)
  }
}

/** The reason why the answer that was found is not given to this request; undefined if it is. */
function whyNotReplayed(found: KeptAnswer, wanted: AnswerClaim): GatewayError | undefined {
  const first = `The first request with this Idempotency-Key, ${found.requestId},`
  if (found.secretHash !== wanted.secretHash) {
    return new GatewayError(
      'idempotent_answer_not_kept',
      `${first} was made with the key's other secret, and only that one opens its answer.`,
    )
  }
  if (found.bodyPrint !== wanted.bodyPrint) {
    return new GatewayError(
      'idempotency_key_reused',
      `${first} had another body. Send a new Idempotency-Key with every new request.`,
    )
  }
  if (found.state === 'running') {
    return new GatewayError('idempotency_key_in_use', `${first} is still being answered. Try again in 2 s.`)
  }
  if (found.state === 'not_kept' || !found.sealed) {
    return new GatewayError(
      'idempotent_answer_not_kept',
      `${first} was answered and charged, but its answer was too large to be kept or could not be stored.`,
    )
  }
  return undefined
}

function notAName(name: string): GatewayError {
  return badRequest(
    'invalid_idempotency_key',
    `The Idempotency-Key header must have 1 to 255 visible ASCII characters, such as a UUID; it has ${name.length}${VISIBLE.test(name.slice(0, 255)) ? '' : ', not all of them visible'}.`,
  )
}
