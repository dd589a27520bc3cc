import { type AdmissionResult, type Demand, whyNotAdmitted } from '../domain/admission.ts'
import { holdOf, lowerCap } from '../domain/chat-work.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { expiredHolds, type Key, standingOf } from '../domain/key.ts'
import type { FinishDeadHolds } from '../flow/finish-hold.ts'
import { deadAtMs, type Passage } from '../flow/passage.ts'
import { admissionRefusal } from './admission-refusal.ts'
import { requireAccess } from './authorize.ts'
import type { Gate } from './gate.ts'
import { invalidKey } from './identify.ts'
import type { KeyCache } from './key-cache.ts'

export type AdmitDeps = {
  readonly takeAdmission: (key: Key, demand: Demand) => Promise<AdmissionResult>
  readonly finishDeadHolds: FinishDeadHolds
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly newRequestId: (nowMs: number) => string
  readonly cache: KeyCache
}

const MOST_TRIES = 12
const MOST_UNANSWERED = 2

/**
 * The one write before the upstream. It is repeated only if it was refused for something that has an answer: a stale
 * copy of the key, a bucket in use, a cap that can be lowered, or credits that a dead request still holds. A call that
 * the balance does not cover is admitted without credits, to spend its token, and refused by the last gate.
 */
export function admit({ takeAdmission, finishDeadHolds, readKey, newRequestId, cache }: AdmitDeps): Gate {
  return {
    before: async ({ context: { passage } }) => {
      const { credential } = passage
      if (!credential) throw invalidKey()
      await enter(passage, credential.hash, credential.key)
    },
  }

  async function enter(passage: Passage, hash: string, first: Key): Promise<void> {
    let key = first
    let share = 1
    let sweptDead = false
    let unanswered = 0
    for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
      const demand = demandOf(passage, hash)
      const result = await takeAdmission(key, demand)
      if (!result.key || standingOf(result.key, hash, passage.nowMs) === 'refused') throw forget(passage, hash)
      key = result.key
      passage.credential = { hash, key, cached: false }
      cache.put(hash, key)
      const dead = expiredHolds(key, passage.nowMs)
      if (result.admitted === 'unknown') {
        // If the unanswered write lands later, its hold has no owner; the sweep releases it.
        unanswered += 1
        if (unanswered > MOST_UNANSWERED) throw result.cause
        passage.requestId = newRequestId(passage.nowMs)
        continue
      }
      if (result.admitted) {
        passage.hold = demand.hold
        passage.deadHolds = dead
        return
      }
      requireAccess(passage)
      const why = whyNotAdmitted(key, demand)
      if (why === undefined) continue
      if (why === 'credit_balance_exhausted' && lower(passage, key, share)) {
        share /= 2
        continue
      }
      const deadHoldsInTheWay = why === 'credit_balance_exhausted' || why === 'concurrency_limit_exceeded'
      if (deadHoldsInTheWay && dead.length > 0 && !sweptDead) {
        await finishDeadHolds(key.id, dead)
        key = (await readKey(key.id)) ?? key
        sweptDead = true
        continue
      }
      const refusal = admissionRefusal(why, key, passage)
      if (why !== 'credit_balance_exhausted') throw refusal
      passage.refusal = refusal
    }
    throw tooBusy()
  }

  function forget(passage: Passage, hash: string) {
    cache.drop(hash)
    delete passage.credential
    return invalidKey()
  }
}

/** The last gate: a refusal that was found on the way is answered now that it has spent its token. */
export function refuse(): Gate {
  return {
    before: ({ context: { passage } }) => {
      if (passage.refusal) throw passage.refusal
    },
  }
}

function tooBusy(): GatewayError {
  return new GatewayError(
    'key_busy',
    `Too many requests of this key met at the same moment: this one was overtaken ${MOST_TRIES} times. Nothing was taken; try again.`,
    { headers: { 'Retry-After': '1' } },
  )
}

function demandOf(passage: Passage, hash: string): Demand {
  return {
    requestId: passage.requestId,
    hash,
    nowMs: passage.nowMs,
    hold: wantsAnswer(passage) ? holdOf(passage.work.chat) : 0n,
    holdUntilMs: deadAtMs(passage),
  }
}

/** A refusal counts against the limits but holds no credits. */
function wantsAnswer(passage: Passage): passage is Passage & Required<Pick<Passage, 'work'>> {
  return passage.work !== undefined && !passage.refusal
}

/** Each further try asks for a smaller share, so that racing requests find room for each other. */
function lower(passage: Passage, key: Key, share: number): boolean {
  const lowered = passage.work && lowerCap(passage.work.chat, key.available, share)
  if (!passage.work || !lowered) return false
  passage.work = { ...passage.work, chat: lowered }
  return true
}
