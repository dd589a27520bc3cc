import type { Release } from '../../domain/admission/admission.ts'
import { COUNTERS, type LossDeps, lossBoundOf, lossOf, oldestKept, windowOf } from '../../domain/admission/counters.ts'
import { faultOf, type GatewayError } from '../../domain/basics/gateway-error.ts'
import { accountIdOf, type Key } from '../../domain/keys/key.ts'
import { laneIn } from '../../domain/keys/lane.ts'
import { creditRefusalMark } from '../../domain/keys/notice.ts'
import { type Bill, NO_BILL } from '../../domain/money/bill.ts'
import { costOf, parsePrice, priceAt, type Quantities, statePrice } from '../../domain/money/price.ts'
import { type CountField, PRICE_ROWS } from '../../domain/money/price-kinds.ts'
import { answeringContext, loweredCap } from '../../domain/money/priced-request.ts'
import { type Attribution, attributionOf } from '../../domain/rows/attribution.ts'
import {
  isRequest,
  type Outcome,
  USAGE_FIELDS,
  type UsageFieldName,
  type UsageRow,
} from '../../domain/rows/usage-row.ts'
import type { Log } from '../../platform/log/log.ts'
import { retry, waitAtMost } from '../../platform/retry.ts'
import type { ReleaseHold } from '../../store/admission/release-hold.ts'
import type { PutUsageRow } from '../../store/rows/usage-rows.ts'
import { droppedFieldsText } from '../../wire/requests/headers.ts'
import { deadAtMs, type GatewayRequest, type Journey } from '../request.ts'
import { lossOfRequest } from './owed.ts'
import { hasOwnRow, type Refusals } from './refusal-rows.ts'

type SettleDeps = LossDeps & {
  readonly putUsageRow: PutUsageRow
  readonly releaseHold: ReleaseHold
  readonly isUnavailable: (error: unknown) => boolean
  readonly wasRejected: (error: unknown) => boolean
  readonly clock: () => number
  readonly log: Log
  readonly isUnattributed?: boolean | undefined
}

export type Ending = {
  readonly outcome: Outcome
  readonly httpStatus: number
  readonly errorCode?: string | undefined
  readonly bill?: Bill
}

export type Settle = (request: GatewayRequest, ending: Ending) => Promise<void>

/** No caller waits longer for an answer while the database is away; settling goes on. */
export type SettleInTime = { readonly settle: Settle; readonly timing: { readonly settleMs: number } }

export function settleInTime({ settle, timing }: SettleInTime, request: GatewayRequest, ending: Ending): Promise<void> {
  return waitAtMost(settle(request, ending), timing.settleMs)
}

/** Time that is kept back from the function's timeout for settling. */
export const SETTLE_RESERVE_MS = 20_000

/** The holds that an instance remembers to release again. */
const MOST_UNRELEASED = 100

/** So close to a request's deadline no write of its settling is retried. */
export const SETTLE_MARGIN_MS = 1_000

/**
 * Writes the usage row, then takes the cost from the hold and releases the rest. Both writes may be repeated: the first
 * row stays, and a hold is released once. It never throws: the sweep settles a request that cannot be settled now.
 */
export function settler(deps: SettleDeps): Settle {
  const { putUsageRow, releaseHold, isUnavailable, wasRejected, clock, log, isUnattributed } = deps
  const refusals = new Map<string, Refusals>()
  let unreleased: readonly Release[] = []
  return (request, ending) => {
    const { settlement } = request
    settlement.settling ??= settle(request, ending)
    return settlement.settling
  }

  async function settle(request: GatewayRequest, ending: Ending): Promise<void> {
    const { credential, requestId, hold, settlement, endpoint } = request
    if (!credential) return
    const { key } = credential
    const keyId = key.id
    settlement.cost = ending.bill?.cost ?? 0n
    // Limits bound the refusals that were admitted, which hold something, if only a place.
    const flood = `${keyId} ${isRequest({ endpoint: endpoint.name, outcome: ending.outcome })}`
    if (ending.outcome === 'refused' && hold === undefined && !hasOwnRow(refusals, flood, request.nowMs)) return
    try {
      const row = await record(request, keyId, ending, refusals.get(flood))
      settlement.cost = row.cost
      if (hold !== undefined) {
        const taken = { amount: hold, untilMs: deadAtMs(request) }
        const lost = lossIn(key, request, row)
        const tokensBack = tokensBackOf(request, row)
        await release(request, { address: key.address, requestId, hold: taken, cost: row.cost, tokensBack, ...lost })
        if (lost.reached !== undefined) log.lossReached(keyId, requestId)
      }
      log.request(row)
      noteContext(request, row)
    } catch (error) {
      log.unsettled(error, requestId, ending)
    }
  }

  /** The row tells the refusals before it that have none; if it does not stand, the next one does. */
  async function record(request: GatewayRequest, keyId: string, ending: Ending, refused?: Refusals): Promise<UsageRow> {
    const alsoRefused = refused?.untold || undefined
    if (refused) refused.untold = 0
    let written: UsageRow | undefined
    try {
      const row = rowOf(request, keyId, ending, alsoRefused)
      written = await persist(deps, request, () => writeRow(row))
      return written
    } finally {
      if (refused && alsoRefused && !written?.alsoRefused) refused.untold += alsoRefused
    }
  }

  /** Also releases the holds of earlier requests of the key whose release DynamoDB rejected: the sweep would come late. */
  async function release(request: GatewayRequest, own: Release): Promise<void> {
    try {
      await persist(deps, request, () => releaseHold(own))
    } catch (error) {
      if (wasRejected(error)) keepForLater(own)
      throw error
    }
    if (unreleased.length === 0) return
    const late = unreleased.filter(({ address }) => address === own.address)
    unreleased = unreleased.filter(({ address }) => address !== own.address)
    for (const one of late) await releaseHold(one).catch(() => keepForLater(one))
  }

  function keepForLater(release: Release): void {
    unreleased = [...unreleased, release].slice(-MOST_UNRELEASED)
  }

  /** The change of the key's loss, and the mark if its bound is reached, or kept a route from being asked. */
  function lossIn(key: Key, { nowMs, journey }: GatewayRequest, { loss = 0n }: UsageRow) {
    const { lossTaken = 0n, isLossRefused } = journey
    const bound = lossBoundOf(key, deps, nowMs)
    const isReached = isLossRefused || (loss > 0n && lossOf(key, nowMs) + loss >= bound)
    return {
      loss: loss - lossTaken,
      reached: isReached
        ? creditRefusalMark(key, 'daily_loss_exceeded', nowMs, key.dailyLoss ?? deps.dailyLoss)
        : undefined,
    }
  }

  /** None to a window that is forgotten by now. */
  function tokensBackOf({ nowMs, tokens = 0n }: GatewayRequest, row: UsageRow): bigint {
    const back = tokens - BigInt(row.promptTokens + row.completionTokens)
    const isKept = windowOf(COUNTERS.tpm, nowMs) >= oldestKept(COUNTERS.tpm, clock())
    return isKept && back > 0n ? back : 0n
  }

  function rowOf(request: GatewayRequest, keyId: string, ending: Ending, alsoRefused: number | undefined): UsageRow {
    const { priced, endpoint } = request
    const attribution = priced && !isUnattributed ? attributionOf(priced.chat.raw, endpoint.contract) : {}
    return toRow(request, keyId, ending, clock(), { ...attribution, alsoRefused })
  }

  /** An upstream that counts a prompt beyond the context proves the catalog wrong, by which holds are bounded. */
  function noteContext({ priced, journey }: GatewayRequest, row: UsageRow): void {
    if (!priced || !journey.route || row.usageSource !== 'upstream') return
    // Between calls of its own tools a provider counts the prompt again.
    if (priced.chat.hosted.length > 0) return
    const contextLength = answeringContext(priced, journey.fallbackModel)
    if (row.promptTokens > contextLength)
      log.contextExceeded(journey.route, row.promptTokens, contextLength, row.requestId)
  }

  /** A row that cannot be written as it is must not make its answer free. */
  async function writeRow(row: UsageRow): Promise<UsageRow> {
    try {
      return await putUsageRow(row)
    } catch (error) {
      if (isUnavailable(error)) throw error
      log.problem('a usage row could not be written whole, so its least was written', error, row.requestId)
      return putUsageRow(leastRow(row))
    }
  }
}

/** A row without the parts that grow: its cost and the reason for it. */
export function leastRow(row: UsageRow): UsageRow {
  const { provider, upstreamModel, fallbackModel, replayOf, errorCode, ttftMs, ...rest } = row
  const { droppedFields, user, tags, serviceTier, stopReason, ...least } = rest
  return { ...least, attempts: [] }
}

export function endingOf(error: GatewayError): Ending {
  return { outcome: OUTCOMES[faultOf(error.kind)], httpStatus: error.status, errorCode: error.code }
}

/** A row must not grow by what a caller sent. */
const MOST_DROPPED_CHARS = 200

const OUTCOMES = { refused: 'refused', failed: 'upstream_error', broken: 'abandoned' } as const

/** A row in which no field is forgotten, though it may be undefined. */
type WholeRow = { readonly [Name in UsageFieldName]-?: UsageRow[Name] }

function toRow(
  request: GatewayRequest,
  keyId: string,
  ending: Ending,
  nowMs: number,
  { user, tags, alsoRefused }: Attribution & Pick<WholeRow, 'alsoRefused'>,
): WholeRow {
  const { journey, priced } = request
  const bill = ending.bill ?? NO_BILL
  const { quantities } = bill
  const lowered = priced && loweredCap(priced)
  return {
    requestId: request.requestId,
    keyId,
    endpoint: request.endpoint.name,
    contract: request.endpoint.contract,
    startedAtMs: request.nowMs,
    outcome: ending.outcome,
    httpStatus: ending.httpStatus,
    errorCode: ending.errorCode,
    model: priced?.model.id,
    provider: journey.provider,
    upstreamModel: journey.upstreamModel,
    fallbackModel: journey.fallbackModel,
    replayOf: request.replay?.requestId,
    stream: priced?.chat.stream ?? false,
    ...countFields(quantities),
    reasoningTokens: bill.reasoning || undefined,
    askedMaxTokens: lowered === undefined ? undefined : priced?.chat.namedCap,
    loweredMaxTokens: lowered,
    usageSource: bill.source,
    estimatedBy: bill.estimatedBy,
    usageRejected: bill.usageRejected,
    usageCapped: bill.usageCapped || undefined,
    cost: bill.cost,
    hold: request.hold ?? 0n,
    ...upstreamCostOf(journey, bill),
    priceVersion: priced?.catalog.version,
    price: priced && statePrice(priceAt(priced.model.tokenPrice, quantities.prompt, bill.serviceTier)),
    attempts: journey.attempts,
    ttftMs: journey.firstPartMs,
    durationMs: nowMs - request.nowMs,
    droppedFields: journey.droppedFields && droppedFieldsText(journey.droppedFields).slice(0, MOST_DROPPED_CHARS),
    user,
    tags,
    stopReason: bill.stopReason,
    loss: lossOfRequest(request, bill) || undefined,
    serviceTier: bill.serviceTier,
    alsoRefused,
    accountId: request.credential && accountIdOf(request.credential.key),
    lane: laneIn(request.credential?.key.address ?? '') || undefined,
    plan: priced?.catalog.plan,
    priceFactor: priced?.model.factor,
    finishReason: bill.finishReason,
  }
}

/** A count that a row may lack is left out if it is 0. */
function countFields(quantities: Quantities): Pick<WholeRow, CountField> {
  const counts = PRICE_ROWS.flatMap(({ field, quantity }) => {
    if (!field || !quantity) return []
    return [[field, quantities[quantity] || (USAGE_FIELDS[field].optional ? undefined : 0)]]
  })
  return Object.fromEntries(counts)
}

function upstreamCostOf({ cost }: Journey, bill: Bill): Pick<WholeRow, 'upstreamCost' | 'upstreamCostSource'> {
  if (bill.upstreamCost !== undefined) return { upstreamCost: bill.upstreamCost, upstreamCostSource: 'provider' }
  if (!cost || bill.source === 'none') return { upstreamCost: undefined, upstreamCostSource: undefined }
  const { quantities, serviceTier, generated = 0 } = bill
  const completion = Math.max(quantities.completion, generated)
  const upstreamCost = costOf(parsePrice(cost), { ...quantities, completion }, serviceTier)
  return { upstreamCost, upstreamCostSource: undefined }
}

/** The longest time for a write that DynamoDB rejects again and again: the heat of one key must not keep its executions. */
const MOST_REJECTED_MS = 5_000

/** Tries a write until it is known to have happened, or the function's time is up. */
function persist<T>(
  { isUnavailable, wasRejected, clock }: SettleDeps,
  { hold, deadlineMs }: GatewayRequest,
  write: () => Promise<T>,
): Promise<T> {
  const endsMs = deadlineMs - SETTLE_MARGIN_MS
  const rejectedUntilMs = Math.min(endsMs, clock() + MOST_REJECTED_MS)
  return retry(write, {
    // A request that held nothing is not worth a caller's wait.
    when: (error, pauseMs) =>
      isUnavailable(error) && hold !== undefined && clock() + pauseMs < (wasRejected(error) ? rejectedUntilMs : endsMs),
    pauseMs: (attempt) => Math.min(50 * 2 ** (attempt - 1), 2_000),
  })
}
