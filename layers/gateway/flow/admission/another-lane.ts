import type { Demand } from '../../domain/admission/admission.ts'
import { type Begun, leastTaken, sumOf, tokensOf } from '../../domain/admission/deal.ts'
import type { AdmissionRefusal } from '../../domain/basics/gateway-error.ts'
import { expiredHolds, type Key } from '../../domain/keys/key.ts'
import type { ReadBooks, ReadKey } from '../../store/keys/read-key.ts'
import type { FinishDeadHolds } from '../billing/finish-hold.ts'

export type LaneDeps = {
  readonly readKey: ReadKey
  readonly readBooks: ReadBooks
  readonly startDeal: (first: Key, begun: Begun) => Promise<boolean>
  readonly bringLanes: (keyId: string, nowMs: number) => Promise<void>
  readonly finishDeadHolds: FinishDeadHolds
  readonly whyNotAdmitted: (key: Key, demand: Demand) => AdmissionRefusal | undefined
  readonly pause: (ms: number) => Promise<void>
  readonly random: (bytes: number) => Uint8Array
}

/** A lane that is worth a try, or the reason for which none of them has room, with all of them as one key. */
export type Found =
  | { readonly lane: Key; readonly why?: undefined }
  | { readonly whole: Key; readonly why: AdmissionRefusal }

export type AnotherLane = (
  key: Key,
  demand: Demand,
  request: { readonly nowMs: number; readonly deadlineMs: number },
  tries: { deals: number; sweptDead: boolean },
) => Promise<Found | undefined>

/** An instance that begins or goes on with a deal takes some milliseconds. */
const PAUSE_MS = 20

/** Others may take what was dealt out for a request. */
const MOST_DEALS = 3

/**
 * Looks for room in all lanes of a key, in a random order, so that racing requests meet in few. If none has enough,
 * though together they have, it is dealt out anew. They are not read at one moment, and one may give back what another
 * takes: a refusal is proven by two readings. Undefined if the key is gone.
 */
export async function anotherLane(
  { readKey, readBooks, startDeal, bringLanes, finishDeadHolds, whyNotAdmitted, pause, random }: LaneDeps,
  ...[key, demand, { nowMs, deadlineMs }, tries]: Parameters<AnotherLane>
): ReturnType<AnotherLane> {
  let lanes = await readBooks(key.id)
  for (let wait = 1; wait <= 2 && isUnderWay(lanes); wait++) {
    // Another goes on with it, or does not any more.
    await (wait === 1 ? pause(PAUSE_MS) : bringLanes(key.id, nowMs))
    lanes = await readBooks(key.id)
  }
  const [first] = lanes
  if (!first) return undefined
  // While it is dealt out, lanes have less than there is. The next try waits again.
  if (isUnderWay(lanes)) return { lane: first }
  const open = lanes.filter(({ lane }) => !lane?.isClosed)
  const ready = open.filter((lane) => whyFull(lane) === undefined)
  if (ready.length > 0) return { lane: ready[(random(1)[0] as number) % ready.length] as Key }
  const whole = sumOf(lanes, nowMs)
  const why = whyFull(whole)
  if (why === undefined) {
    const best = open.reduce(
      (most, lane) => (tokensOf(lane, nowMs) > tokensOf(most, nowMs) ? lane : most),
      open[0] ?? first,
    )
    const wanted = { index: best.lane?.index ?? 0, hold: demand.hold, tokens: demand.tokens }
    tries.deals += 1
    if (tries.deals <= MOST_DEALS && (await startDeal(first, { lanes: first.lanes, rpm: first.rpm, wanted })))
      await bringLanes(key.id, nowMs)
    return { lane: (await readKey(best.address)) ?? first }
  }
  const withDead = lanes.filter((lane) => expiredHolds(lane, nowMs).length > 0)
  if (withDead.length > 0 && !tries.sweptDead) {
    for (const lane of withDead) await finishDeadHolds(lane, expiredHolds(lane, nowMs), deadlineMs)
    tries.sweptDead = true
    return { lane: (await readKey(key.address)) ?? first }
  }
  const later = await readBooks(key.id)
  const isProvable = !isUnderWay(later) && later[0]?.version === first.version
  const proven = isProvable ? whyFull(sumOf(leastTaken(lanes, later), nowMs)) : undefined
  if (proven !== undefined) return { whole, why: proven }
  return { lane: later.find((lane) => whyFull(lane) === undefined) ?? later[0] ?? first }

  /** A lane whose only fault is that it has too few credits can draw them. */
  function whyFull(key: Key): AdmissionRefusal | undefined {
    return whyNotAdmitted({ ...key, available: demand.hold }, demand)
  }
}

/** A change, or a deal, that some of the lanes were read before, and others after. */
function isUnderWay([first, ...others]: readonly Key[]): boolean {
  if (!first?.lane) return false
  const { version, lanes } = first
  const isBetween = ({ version: own, lane }: Key) =>
    own !== version || (lane !== undefined && lane.index < lanes && lane.isClosed)
  return first.lane.dealing !== undefined || others.length + 1 !== first.lane.made || others.some(isBetween)
}
