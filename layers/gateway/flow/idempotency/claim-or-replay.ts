import type { AnswerClaim, KeptAnswer } from '../../domain/admission/idempotency.ts'
import type { Log } from '../../platform/log/log.ts'
import type { AnswerStore } from '../../store/idempotency/answers.ts'
import type { ReadBooks } from '../../store/keys/read-key.ts'
import type { NotReplayed } from '../../wire/admission/idempotency-refusal.ts'
import { secretOf } from '../admission/credential.ts'
import type { FinishHold } from '../billing/finish-hold.ts'
import { type AdmittedChat, deadAtMs, type GatewayEvent, type Replay } from '../request.ts'
import { AnswerCipher, answerId, heldClaim } from './answer-vault.ts'

export type IdempotencyDeps = {
  readonly answers: AnswerStore
  readonly readBooks: ReadBooks
  readonly finishHold: FinishHold
  readonly log: Log
}

export type ClaimOrReplay = (
  request: AdmittedChat,
  event: GatewayEvent,
  isUnpaid: boolean,
) => Promise<Replay | undefined>

const VISIBLE = /^[\x21-\x7e]{1,255}$/

/**
 * An `Idempotency-Key` makes a retry safe: the first request with it claims it and answers, and a repetition gets that
 * answer again. The claim is made after admission, so that a refused request makes none. A balance that is used up does
 * not keep a caller from an answer that was paid for.
 */
export async function claimOrReplay(
  deps: IdempotencyDeps,
  ...[request, event, isUnpaid]: Parameters<ClaimOrReplay>
): Promise<Replay | undefined> {
  const [name, secret] = [event.headers['idempotency-key'], secretOf(event)]
  if (name === undefined || secret === undefined) return undefined
  if (!VISIBLE.test(name)) {
    const { notAName } = await import('#advice')
    throw notAName(name, VISIBLE.test(name.slice(0, 255)))
  }
  const { credential } = request
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
  const found = isUnpaid ? await deps.answers.find(id, request.nowMs) : await claimOrFind(deps, request, claim)
  if (found) {
    request.replay = await replayOf(found, claim, cipher)
    return request.replay
  }
  if (!isUnpaid) request.claim = heldClaim(deps.answers, deps.log, claim, cipher)
  return undefined
}

/** A request that died with its claim is settled first: it cannot be charged any more once another takes its place. */
async function claimOrFind(
  { answers, readBooks, finishHold }: IdempotencyDeps,
  { credential, nowMs }: AdmittedChat,
  claim: AnswerClaim,
): Promise<KeptAnswer | undefined> {
  const found = await answers.claim(claim, nowMs)
  if (found?.state !== 'running' || found.untilMs > nowMs) return found
  const { requestId } = found
  const books = await readBooks(credential.key.id)
  const holder = books.find(({ holds }) => holds[requestId]) ?? credential.key
  const hold = holder.holds[requestId] ?? { amount: 0n, untilMs: found.untilMs }
  const row = await finishHold(holder, { requestId, ...hold })
  if (row.cost > 0n) return { ...found, state: 'not_kept' }
  return answers.claim(claim, nowMs, requestId)
}

async function replayOf(found: KeptAnswer, wanted: AnswerClaim, cipher: AnswerCipher): Promise<Replay> {
  const why = whyNotReplayed(found, wanted)
  if (why === undefined) return { requestId: found.requestId, text: cipher.decrypt(found.sealed as Uint8Array) }
  const { notReplayed } = await import('#advice')
  throw notReplayed(found, why)
}

function whyNotReplayed(found: KeptAnswer, wanted: AnswerClaim): NotReplayed | undefined {
  if (found.secretHash !== wanted.secretHash) return 'other secret'
  if (found.bodyPrint !== wanted.bodyPrint) return 'other body'
  if (found.state === 'running') return 'running'
  return found.state === 'not_kept' || !found.sealed ? 'not kept' : undefined
}
