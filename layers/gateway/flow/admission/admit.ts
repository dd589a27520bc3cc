import { mayUseModel } from '../../domain/admission/access.ts'
import type { Demand } from '../../domain/admission/admission.ts'
import { creditsLeft } from '../../domain/admission/counters.ts'
import { type AdmissionRefusal, ERRORS, GatewayError } from '../../domain/basics/gateway-error.ts'
import { expiredHolds } from '../../domain/keys/key.ts'
import { type CreditRefusal, isCreditRefusal } from '../../domain/keys/notice.ts'
import { holdOf, type PricedRequest } from '../../domain/money/priced-request.ts'
import type { TakeAdmission } from '../../store/admission/take-admission.ts'
import type { ReadKey } from '../../store/keys/read-key.ts'
import { invalidKey, keyRefusal } from '../../wire/keys/key-refusals.ts'
import { modelNotAllowed } from '../../wire/routing/models.ts'
import type { FinishDeadHolds } from '../billing/finish-hold.ts'
import { type Admission, deadAtMs, type IdentifiedRequest } from '../request.ts'
import { type KeyCache, requireAccess } from './credential.ts'
import type { Draw, Shortage } from './draw.ts'

export type AdmitDeps = {
  readonly takeAdmission: TakeAdmission
  readonly finishDeadHolds: FinishDeadHolds
  readonly readKey: ReadKey
  readonly newRequestId: (nowMs: number) => string
  readonly draw: Draw
  readonly cache: KeyCache
}

type Remedies = Omit<AdmitDeps, 'takeAdmission' | 'cache'>

const MOST_TRIES = 12
const MOST_UNKNOWN_OUTCOMES = 2

type Candidate = IdentifiedRequest & { priced?: PricedRequest | undefined }

type Tries = {
  unknownOutcomes: number
  share: number
  sweptDead: boolean
  /** The refusal of a request that its credits do not cover, and the limit that was reached. */
  unpaid?: GatewayError
  /** The account of the key, if it was proven to have too little. */
  shortage?: Shortage
  creditRefusal?: CreditRefusal
}

/**
 * The one write before the upstream. It is repeated only if it was refused for a reason that can be remedied: a stale
 * copy of the key, a bucket in use, a cap that can be lowered, or credits that a dead request still holds. A call for a
 * model that the key may not use, or that its credits do not cover, is admitted without credits, so that it counts in the
 * limits. The first is refused then. The refusal of the second is returned: an answer that was paid for before may still be given.
 */
export async function admit<Request extends Candidate>(
  { takeAdmission, cache, ...deps }: AdmitDeps,
  request: Request,
): Promise<{ readonly admitted: Request & Admission; readonly unpaid: GatewayError | undefined }> {
  const { hash } = request.credential
  const tries: Tries = { unknownOutcomes: 0, share: 1, sweptDead: false }
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const notAllowed = whyNotAllowed(request)
    const demand = demandOf(request, notAllowed !== undefined || tries.unpaid !== undefined, tries.creditRefusal)
    const result = await takeAdmission(request.credential.key, demand)
    const isProven = result.admitted === true && !result.isReadAfter
    const refusal = isProven ? undefined : keyRefusal(result.key, hash, request.nowMs)
    if (!result.key || refusal) {
      cache.drop(hash)
      throw refusal ?? invalidKey()
    }
    cache.put(hash, result.key)
    const credential = { hash, key: result.key, cached: false }
    if (result.admitted === true) {
      const deadHolds = expiredHolds(result.key, request.nowMs)
      const { freeUnderWay } = result
      const admitted = Object.assign(request, { credential, hold: demand.hold, deadHolds, freeUnderWay })
      if (notAllowed) throw notAllowed
      return { admitted, unpaid: tries.unpaid }
    }
    request.credential = credential
    if (result.admitted === 'unknown') goOnUnderNewId(deps, request, tries, result.cause)
    else if (result.why) await answerRefusal(deps, request, tries, result.why)
    else requireAccess(request)
  }
  throw tooBusy()
}

/** Does a step that may refuse the call. A call that is refused counts in its key's limits, too. */
export async function refusingAfterAdmission<T>(
  deps: AdmitDeps,
  request: IdentifiedRequest,
  step: () => T | Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (refusal) {
    if (refusal instanceof GatewayError) await admit(deps, request)
    throw refusal
  }
}

/** If a write whose outcome is unknown lands later, its hold has no owner; the sweep releases it. */
function goOnUnderNewId({ newRequestId }: Remedies, request: Candidate, tries: Tries, cause: unknown): void {
  tries.unknownOutcomes += 1
  if (tries.unknownOutcomes > MOST_UNKNOWN_OUTCOMES) throw cause
  request.requestId = newRequestId(request.nowMs)
}

/** Removes the reason for the refusal, so that another try is worth it, or throws the refusal. */
async function answerRefusal(deps: Remedies, request: Candidate, tries: Tries, why: AdmissionRefusal): Promise<void> {
  requireAccess(request)
  const { key, hash } = request.credential
  const { remedies = [], countsAsRequest } = ERRORS[why]
  if (remedies.includes('draw from the account') && key.purse) {
    const hold = request.priced ? holdOf(request.priced) : 0n
    const shortage = await deps.draw({ ...key, purse: key.purse }, hold, request.nowMs)
    if (!shortage) return
    tries.shortage = shortage
  }
  if (remedies.includes('lower the cap for credits') && (await lower(request, tries))) return
  const dead = expiredHolds(key, request.nowMs)
  if (remedies.includes('finish dead holds') && dead.length > 0 && !tries.sweptDead) {
    await deps.finishDeadHolds(key, dead, request.deadlineMs)
    const fresh = (await deps.readKey(key.id)) ?? key
    request.credential = { hash, key: fresh, cached: false }
    tries.sweptDead = true
    return
  }
  const { admissionRefusal } = await import('#advice')
  const refusal = admissionRefusal(why, key, request, tries.shortage)
  if (!countsAsRequest) throw refusal
  tries.unpaid = refusal
  // An account has the mark of its own that its credits are used up.
  const isOfAccount = why === 'credit_balance_exhausted' && key.purse !== undefined
  if (isCreditRefusal(why) && !isOfAccount) tries.creditRefusal = why
}

/** Each further try asks for a smaller share, so that racing requests find room for each other. */
async function lower(request: Candidate, tries: Tries): Promise<boolean> {
  const { priced, credential, nowMs } = request
  const { key } = credential
  const { account, most: available = key.available } = tries.shortage ?? {}
  const left = creditsLeft({ ...key, available }, nowMs)
  // A cap that goes by a hidden balance would tell it.
  if (account?.hidesBalance && left === available) return false
  const { lowerCap } = await import('#advice')
  const lowered = priced && lowerCap(priced, left, tries.share)
  if (!lowered) return false
  request.priced = lowered
  tries.share /= 2
  return true
}

/** Asked anew for each try: the write proves the copy of the key by which this was decided. */
function whyNotAllowed({ credential, priced }: Candidate): GatewayError | undefined {
  return priced && !mayUseModel(credential.key, priced.model.id) ? modelNotAllowed(priced.model.id) : undefined
}

/** A refusal counts against the limits but holds no credits. */
function demandOf(request: Candidate, isRefused: boolean, creditRefusal: CreditRefusal | undefined): Demand {
  return {
    requestId: request.requestId,
    hash: request.credential.hash,
    nowMs: request.nowMs,
    hold: request.priced && !isRefused ? holdOf(request.priced) : 0n,
    holdUntilMs: deadAtMs(request),
    creditRefusal,
  }
}

function tooBusy(): GatewayError {
  return new GatewayError(
    'key_busy',
    `Too many requests of this key met at the same moment: this one was overtaken ${MOST_TRIES} times. Nothing was taken; try again.`,
  )
}
