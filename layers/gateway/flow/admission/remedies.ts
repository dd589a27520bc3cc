import { creditsLeft, leftIn } from '../../domain/admission/counters.ts'
import { isRemedy } from '../../domain/admission/remedy.ts'
import { type AdmissionRefusal, ERRORS } from '../../domain/basics/gateway-error.ts'
import { expiredHolds, isAccountId, type Key } from '../../domain/keys/key.ts'
import { isCreditRefusal } from '../../domain/keys/notice.ts'
import { affordableCap, capWithin, lowerCap } from '../../domain/money/priced-request.ts'
import type { ReadKey } from '../../store/keys/read-key.ts'
import { invalidKey } from '../../wire/keys/key-refusals.ts'
import type { FinishDeadHolds } from '../billing/finish-hold.ts'
import type { AdmitDeps, AnswerRefusal, Candidate, Tries } from './admit.ts'
import type { AnotherLane } from './another-lane.ts'
import { requireAccess } from './credential.ts'
import type { Draw } from './draw.ts'

type RemedyDeps = Pick<AdmitDeps, 'wholeKey'> & {
  readonly finishDeadHolds: FinishDeadHolds
  readonly readKey: ReadKey
  readonly draw: Draw
  readonly anotherLane: AnotherLane
  readonly topUpUrl?: string | undefined
}

/** Loaded with the first refusal. */
export async function answerRefusal(
  deps: RemedyDeps,
  ...[request, demand, tries, found]: Parameters<AnswerRefusal>
): Promise<void> {
  requireAccess(request)
  const { key: own, hash } = request.credential
  let [key, why] = [own, found]
  if (own.lane && isRemedy('try another lane', found)) {
    const other = await deps.anotherLane(own, demand, request, tries)
    if (!other) throw invalidKey()
    if (other.why === undefined) {
      request.credential = { hash, key: other.lane, cached: false }
      return
    }
    key = other.whole
    why = other.why
    request.credential.whole = Promise.resolve(key)
  }
  if (isRemedy('draw from the account', why) && own.purse) {
    const shortage = await deps.draw({ ...own, purse: own.purse }, demand.hold, request)
    if (!shortage) return
    if (own.lane) key = await deps.wholeKey(own, request.nowMs)
    key = { ...key, available: shortage.most }
    // The pool of a key that is alone is no account.
    if (isAccountId(own.purse.accountId)) tries.shortage = shortage
  }
  if (lower(request, tries, key, why)) return
  const dead = expiredHolds(own, request.nowMs)
  if (isRemedy('finish dead holds', why) && dead.length > 0 && !tries.sweptDead) {
    await deps.finishDeadHolds(own, dead, request.deadlineMs)
    request.credential = { hash, key: (await deps.readKey(own.address)) ?? own, cached: false }
    tries.sweptDead = true
    return
  }
  const { admissionRefusal } = await import('#advice')
  const refusal = admissionRefusal(why, key, request, tries.shortage, deps.topUpUrl)
  if (!ERRORS[why].countsAsRequest) throw refusal
  tries.unpaid = refusal
  // An account has the mark of its own that its credits are used up.
  const isOfAccount = why === 'credit_balance_exhausted' && own.purse !== undefined
  if (isCreditRefusal(why) && !isOfAccount) tries.creditRefusal = why
}

/** Each further try asks for a smaller share, so that racing requests find room for each other. */
function lower(request: Candidate, tries: Tries, key: Key, why: AdmissionRefusal): boolean {
  const covered = coveredCap(request, tries, key, why)
  const lowered = request.priced && covered !== undefined && lowerCap(request.priced, covered, tries.share)
  if (!lowered) return false
  request.priced = lowered
  tries.share /= 2
  return true
}

function coveredCap({ priced, nowMs }: Candidate, { shortage }: Tries, key: Key, why: AdmissionRefusal) {
  if (!priced) return undefined
  const tokens = leftIn(key, 'tpm', nowMs)
  // Credits are found wanting first, and what they cover may be more than the tokens that are left.
  const within = tokens === undefined ? Infinity : capWithin(priced, tokens)
  if (isRemedy('lower the cap for tokens', why)) return within
  if (!isRemedy('lower the cap for credits', why)) return undefined
  const left = creditsLeft(key, nowMs)
  // A cap that goes by a hidden balance would tell it.
  if (shortage?.account.hidesBalance && left === key.available) return undefined
  return Math.min(within, affordableCap(priced, left))
}
