import { type AdmissionResult, type Demand, whyNotAdmitted } from '../domain/admission.ts'
import { holdOf, lowerCap } from '../domain/chat-work.ts'
import { expiredHolds, type Key, standingOf } from '../domain/key.ts'
import type { FinishHold } from '../flow/finish-hold.ts'
import { deadAtMs, type Passage } from '../flow/passage.ts'
import { admissionRefusal } from './admission-refusal.ts'
import { requireAccess } from './authorize.ts'
import type { Gate } from './gate.ts'
import { invalidKey } from './identify.ts'
import type { KeyCache } from './key-cache.ts'

export type AdmitDeps = {
  readonly takeAdmission: (key: Key, demand: Demand) => Promise<AdmissionResult>
  readonly finishHold: FinishHold
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly newRequestId: (nowMs: number) => string
  readonly cache: KeyCache
}

const MOST_TRIES = 12
const MOST_UNANSWERED = 2

/**
 * The one write before the upstream. It is repeated only if it was refused for something that has an answer: a stale
 * copy of the key, a bucket in use, a cap that can be lowered, or credits that a dead request still holds.
 */
export function admit({ takeAdmission, finishHold, readKey, newRequestId, cache }: AdmitDeps): Gate {
  return {
    before: async ({ context: { passage } }) => {
      const { credential } = passage
      if (!credential) throw invalidKey()
      await enter(passage, credential.hash, credential.key)
      if (passage.refusal) throw passage.refusal
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
        // What that write may still take, nobody settles: the sweep gives it back.
        unanswered += 1
        // A claim is for the id it was made with.
        if (unanswered > MOST_UNANSWERED || passage.claim) throw result.cause
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
        for (const hold of dead) await finishHold(key.id, hold)
        key = (await readKey(key.id)) ?? key
        sweptDead = true
        continue
      }
      throw admissionRefusal(why, key, passage)
    }
    throw admissionRefusal('concurrency_limit_exceeded', key, passage)
  }

  function forget(passage: Passage, hash: string) {
    cache.drop(hash)
    delete passage.credential
    return invalidKey()
  }
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

/** What is refused or answered from what is kept takes its place in the limits, and no credits. */
function wantsAnswer(passage: Passage): passage is Passage & Required<Pick<Passage, 'work'>> {
  return passage.work !== undefined && !passage.refusal && !passage.replay
}

/** Each further try asks for a smaller share, so that racing requests find room for each other. */
function lower(passage: Passage, key: Key, share: number): boolean {
  const lowered = passage.work && lowerCap(passage.work.chat, key.available, share)
  if (!passage.work || !lowered) return false
  passage.work = { ...passage.work, chat: lowered }
  return true
}
