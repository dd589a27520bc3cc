import { mayUseModel } from '../../domain/admission/access.ts'
import type { Demand } from '../../domain/admission/admission.ts'
import { type AdmissionRefusal, GatewayError } from '../../domain/basics/gateway-error.ts'
import { expiredHolds, type Key, planOf } from '../../domain/keys/key.ts'
import type { CreditRefusal } from '../../domain/keys/notice.ts'
import { holdOf, type PricedRequest, tokensOf } from '../../domain/money/priced-request.ts'
import type { Catalog } from '../../domain/routing/catalog.ts'
import type { TakeAdmission } from '../../store/admission/take-admission.ts'
import { invalidKey, keyRefusal } from '../../wire/keys/key-refusals.ts'
import { modelNotAllowed, noSuchModel } from '../../wire/routing/models.ts'
import { type Admission, type Credential, deadAtMs, type IdentifiedRequest } from '../request.ts'
import { type KeyCache, requireAccess } from './credential.ts'
import type { Shortage } from './draw.ts'

export type AdmitDeps = {
  readonly takeAdmission: TakeAdmission
  readonly newRequestId: (nowMs: number) => string
  readonly answerRefusal: AnswerRefusal
  readonly wholeKey: (lane: Key, nowMs: number) => Promise<Key>
  readonly cache: KeyCache
  /** The known catalog, or the cached one, with the prices of the key's plan. */
  readonly catalogFor: (key: Key, known?: Catalog) => Promise<Catalog>
}

const MOST_TRIES = 12
const MOST_UNKNOWN_OUTCOMES = 2

/** Removes the reason for a refusal, so that another try is worth it, or throws the refusal. */
export type AnswerRefusal = (request: Candidate, demand: Demand, tries: Tries, why: AdmissionRefusal) => Promise<void>

export type Candidate = IdentifiedRequest & { priced?: PricedRequest | undefined }

export type Tries = {
  unknownOutcomes: number
  share: number
  sweptDead: boolean
  deals: number
  /** The refusal of a request that its credits do not cover, and the limit that was reached. */
  unpaid?: GatewayError
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
  const tries: Tries = { unknownOutcomes: 0, share: 1, sweptDead: false, deals: 0 }
  const mostTries = MOST_TRIES + request.credential.key.lanes - 1
  for (let attempt = 1; attempt <= mostTries; attempt++) {
    if (request.priced) request.priced = await byPlan(deps, request.priced, request.credential.key)
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
    const credential: Credential = { hash, key: result.key, cached: false }
    if (result.admitted === true) {
      if (result.key.lane) credential.whole = deps.wholeKey(result.key, request.nowMs)
      const deadHolds = expiredHolds(result.key, request.nowMs)
      const { freeUnderWay } = result
      const { hold, tokens } = demand
      const admitted = Object.assign(request, { credential, hold, tokens, deadHolds, freeUnderWay })
      if (notAllowed) throw notAllowed
      return { admitted, unpaid: tries.unpaid }
    }
    request.credential = credential
    if (result.admitted === 'unknown') goOnUnderNewId(deps, request, tries, result.cause)
    else if (result.why) await deps.answerRefusal(request, demand, tries, result.why)
    else requireAccess(request)
  }
  throw new GatewayError(
    'key_busy',
    `Too many requests of this key met at the same moment: this one was overtaken ${mostTries} times. Nothing was taken; try again.`,
  )
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
function goOnUnderNewId(
  { newRequestId }: Pick<AdmitDeps, 'newRequestId'>,
  request: Candidate,
  tries: Tries,
  cause: unknown,
): void {
  tries.unknownOutcomes += 1
  if (tries.unknownOutcomes > MOST_UNKNOWN_OUTCOMES) throw cause
  request.requestId = newRequestId(request.nowMs)
}

/** Asked anew for each try, too: the plan of a key may have changed since the copy by which the request was priced. */
async function byPlan({ catalogFor }: Pick<AdmitDeps, 'catalogFor'>, priced: PricedRequest, key: Key) {
  if (priced.catalog.plan === planOf(key)) return priced
  const catalog = await catalogFor(key, priced.catalog)
  const model = catalog.models.get(priced.model.id)
  if (!model) throw noSuchModel(priced.model.id, [])
  return { ...priced, catalog, model }
}

/** Asked anew for each try: the write proves the copy of the key by which this was decided. */
function whyNotAllowed({ credential, priced }: Candidate): GatewayError | undefined {
  return priced && !mayUseModel(credential.key, priced.model.id) ? modelNotAllowed(priced.model.id) : undefined
}

/** A refusal counts against the limits but holds no credits, and takes no tokens. */
function demandOf(request: Candidate, isRefused: boolean, creditRefusal: CreditRefusal | undefined): Demand {
  const asked = isRefused ? undefined : request.priced
  return {
    requestId: request.requestId,
    hash: request.credential.hash,
    nowMs: request.nowMs,
    hold: asked ? holdOf(asked) : 0n,
    holdUntilMs: deadAtMs(request),
    tokens: request.credential.key.tpm === undefined ? undefined : asked ? tokensOf(asked) : 0n,
    creditRefusal,
  }
}
