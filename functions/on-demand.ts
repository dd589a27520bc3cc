// A file of its own beside the code of chat and api: the first refusal, key with lanes or Idempotency-Key loads it.
import { setTimeout as pause } from 'node:timers/promises'
import { sumOf } from '../layers/gateway/domain/admission/deal.ts'
import { GatewayError } from '../layers/gateway/domain/basics/gateway-error.ts'
import { type AccountBalance, balanceOf } from '../layers/gateway/domain/keys/account.ts'
import type { Key } from '../layers/gateway/domain/keys/key.ts'
import { laneAddress } from '../layers/gateway/domain/keys/lane.ts'
import { withPlan } from '../layers/gateway/domain/money/plan.ts'
import type { Catalog } from '../layers/gateway/domain/routing/catalog.ts'
import type { AnswerRefusal } from '../layers/gateway/flow/admission/admit.ts'
import { type AnotherLane, anotherLane } from '../layers/gateway/flow/admission/another-lane.ts'
import { type Draw, drawFromAccount } from '../layers/gateway/flow/admission/draw.ts'
import { answerRefusal } from '../layers/gateway/flow/admission/remedies.ts'
import { type ClaimOrReplay, claimOrReplay } from '../layers/gateway/flow/idempotency/claim-or-replay.ts'
import { readTopUpUrl } from '../layers/gateway/platform/config.ts'
import { transfers } from '../layers/gateway/store/accounts/transfers.ts'
import { whyNotAdmitted } from '../layers/gateway/store/admission/admission-rules.ts'
import type { Tables } from '../layers/gateway/store/dynamodb/database.ts'
import { answerStore } from '../layers/gateway/store/idempotency/answers.ts'
import { bringLanes, startDeal } from '../layers/gateway/store/keys/lanes.ts'
import { readBooks, readKey } from '../layers/gateway/store/keys/read-key.ts'
import type { Instance } from './instance.ts'

export { wholeKeys } from '../layers/gateway/store/accounts/whole-keys.ts'

/** The catalog with the prices of a plan. One that was just made is not in a catalog that was read before it. */
export async function plannedCatalog({ loadCatalog }: Instance, known: Catalog, plan: string): Promise<Catalog> {
  const found = withPlan(known, plan) ?? withPlan(await loadCatalog.renew(), plan)
  if (found) return found
  const message = `The gateway does not have the plan '${plan}' of this key, so it knows no price. Nothing was asked or charged. Its operator can put it right.`
  throw new GatewayError('internal_error', message)
}

/** For requests with an Idempotency-Key. */
export function claimsOf({ tables, finishHold, log }: Instance): ClaimOrReplay {
  const deps = { answers: answerStore(tables), finishHold, log, readBooks: readBooks(tables) }
  return (...asked) => claimOrReplay(deps, ...asked)
}

const LANES_KEPT_MS = 1_000
const MOST_KEPT = 1_000

export type Remedies = ReturnType<typeof remediesFrom>

export function remediesFrom({ tables, config, finishDeadHolds, random }: Instance) {
  const { mostAtOnce } = config
  const [readOne, readAll] = [readKey(tables, mostAtOnce), readBooks(tables, mostAtOnce)]
  const verbs = {
    startDeal: startDeal(tables),
    bringLanes: bringLanes(tables),
    finishDeadHolds,
    whyNotAdmitted,
    pause,
    random,
  }
  const transfer = transfers(tables)
  const remedies = {
    topUpUrl: readTopUpUrl(config),
    readKey: readOne,
    finishDeadHolds,
    wholeKey,
    draw: (...purse: Parameters<Draw>) => drawFromAccount(transfer, finishDeadHolds, ...purse),
    anotherLane: (...wanted: Parameters<AnotherLane>) =>
      anotherLane({ ...verbs, readKey: readOne, readBooks: readAll }, ...wanted),
  }
  const known = new Map<string, { readonly atMs: number; readonly lanes: Promise<readonly Key[]> }>()
  const refuse: AnswerRefusal = (...refused) => answerRefusal(remedies, ...refused)
  return { pickLane, wholeKey, answerRefusal: refuse }

  async function pickLane(first: Key): Promise<Key> {
    const index = (random(1)[0] as number) % first.lanes
    const lane = index === 0 ? first : await readOne(laneAddress(first.id, index))
    return lane?.version === first.version && !lane.lane?.isClosed ? lane : first
  }

  async function wholeKey(own: Key, nowMs: number): Promise<Key> {
    let kept = known.get(own.id)
    if (!kept || Math.abs(nowMs - kept.atMs) >= LANES_KEPT_MS) {
      kept = { atMs: nowMs, lanes: readAll(own.id) }
      if (known.size >= MOST_KEPT) known.clear()
      known.set(own.id, kept)
    }
    // The answer of a model is worth more than the numbers beside it.
    const lanes = await kept.lanes.catch(() => [own])
    return sumOf([...lanes.filter(({ address }) => address !== own.address), own].sort(byLane), nowMs)
  }
}

const byLane = (a: Key, b: Key) => (a.lane?.index ?? 0) - (b.lane?.index ?? 0)

/** An account with the credits that it has, wherever they lie. */
export function readBalance(tables: Tables) {
  const { readAccount, readPurses } = transfers(tables)
  return async (accountId: string): Promise<AccountBalance | undefined> => {
    const account = await readAccount(accountId)
    if (!account) return undefined
    const { available, ...balance } = balanceOf(account, await readPurses(account))
    // Purses are not read at one moment: credits that move meanwhile may be held in two of them.
    return { account, balance: { ...balance, available: available > 0n ? available : 0n } }
  }
}
