import { isBeyondLoss, type LossDeps } from '../../domain/admission/counters.ts'
import type { Prompt } from '../../domain/chat/embedding.ts'
import { type Bill, countsOf, NO_BILL } from '../../domain/money/bill.ts'
import { roughTokens } from '../../domain/money/least-tokens.ts'
import type { Nano } from '../../domain/money/money.ts'
import { costOf, NO_QUANTITIES, type Quantities } from '../../domain/money/price.ts'
import { mediaTokens, mostImages, type PricedRequest } from '../../domain/money/priced-request.ts'
import { type Candidate, costPriceOf } from '../../domain/routing/route-cost.ts'
import type { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { promptText } from '../../wire/chat/prompt-text.ts'
import { readUsage } from '../../wire/money/usage-counts.ts'
import type { AdmittedChat, GatewayRequest, Owed } from '../request.ts'
import type { CountDeps } from './count-texts.ts'
import { callsOf, makeBill, templateTokens, toldTokens } from './make-bill.ts'

/**
 * The bill of a request that no route has answered. From the moment an upstream accepts a request it is paid for: by its
 * usage, or by an estimate of what was asked and what came. An upstream that did not get so far, or says that it failed,
 * is the operator's loss, as long as the key's bound on that lasts. Of several attempts the most expensive is charged.
 */
export async function billFailure(deps: CountDeps & LossDeps, request: AdmittedChat): Promise<Bill> {
  const { journey, credential, nowMs } = request
  const isBeyond = isBeyondLoss(credential.key, nowMs, deps)
  let charged: { readonly owed: Owed; readonly bill: Bill } | undefined
  for (const owed of journey.owed ?? []) {
    if (!isBeyond && !isPaid(owed)) continue
    // Beyond the bound nothing is given away that nobody knows.
    const isFree = isBeyond && isUnknown(owed) && !owed.tally.deliveredAnything
    if (isFree || owed.failure?.reason === 'runaway') owed.tally.isAtCap = true
    owed.bill = await makeBill(deps, request, owed.tally)
    if (!charged || owed.bill.cost > charged.bill.cost) charged = { owed, bill: owed.bill }
  }
  if (!charged) return NO_BILL
  const { provider, model: upstreamModel, cost } = charged.owed.candidate.route
  Object.assign(journey, { provider, upstreamModel, ...(cost && { cost }) })
  return charged.bill
}

function isPaid({ tally, failure }: Owed): boolean {
  if (tally.reported !== undefined || tally.deliveredAnything) return true
  return tally.isAnswered && failure?.mayBeBilled !== undefined && !isTold(failure)
}

/** An upstream that says itself that it failed is believed, unless something came of an answer. */
function isTold({ reason, detail }: UpstreamFailure): boolean {
  return reason === 'error_event' || detail.status !== undefined
}

/** True if nobody knows how much the upstream has generated: it was left, or nothing came that could be counted. */
function isUnknown({ tally, failure }: Owed): boolean {
  if (tally.isCounted || (failure && failure.reason !== 'timeout' && isTold(failure))) return false
  return failure?.mayBeBilled === 'the cap' || !tally.deliveredAnything
}

/** The amount that a request may have cost the operator beyond its charge, with every attempt before the answer. */
export function lossOfRequest({ priced, journey }: GatewayRequest, bill: Bill): Nano {
  if (!priced) return 0n
  let cost = journey.candidate ? costOfAnswer(journey.candidate, priced, bill) : 0n
  for (const owed of journey.owed ?? []) cost += costOfOwed(owed, priced)
  return cost > bill.cost ? cost - bill.cost : 0n
}

/** The provider's stated cost, or else the catalog's; a route of unknown cost costs the price of its model. */
function costOfAnswer(candidate: Candidate, priced: PricedRequest, bill: Bill): Nano {
  if (bill.upstreamCost !== undefined) return bill.upstreamCost
  if (bill.source === 'none') return 0n
  const { quantities, generated = 0 } = bill
  const completion = Math.max(quantities.completion, generated)
  return costOf(costPriceOf(candidate, priced), { ...quantities, completion }, bill.serviceTier)
}

function costOfOwed(owed: Owed, priced: PricedRequest): Nano {
  const { bill, candidate, tally } = owed
  const reported = readUsage(tally.reported)
  if (reported?.cost !== undefined) return reported.cost
  const counts = reported && countsOf(reported)
  const cap = candidate.outputCap * priced.chat.choices
  const came = bill?.quantities.completion ?? Math.min(cap, tally.scale(roughTokens(tally.sample)))
  const { calls, isWhole } = callsOf(priced, tally, counts ?? {})
  const roughly = () => Math.min(priced.promptBound, roughPrompt(owed, priced))
  const quantities: Quantities = {
    ...NO_QUANTITIES,
    ...counts?.parts,
    ...calls,
    prompt: isWhole ? priced.promptBound : counts?.prompt || (bill?.quantities.prompt ?? roughly()),
    completion: counts?.completion ?? (isUnknown(owed) ? cap : came),
    images: mostImages(priced.chat),
  }
  return costOf(costPriceOf(candidate, priced), quantities, tally.serviceTier)
}

function roughPrompt({ failure }: Owed, { chat, model, catalog }: PricedRequest): number {
  if (!chat.embedding)
    return roughTokens(promptText(chat.body)) + templateTokens(chat) + mediaTokens(chat, model, catalog)
  const parts = failure?.detail.embedded ?? [{ inputs: chat.embedding.inputs, usage: undefined }]
  return parts.reduce((sum, { inputs, usage }) => sum + (toldTokens(usage) ?? roughInputs(inputs)), 0)
}

function roughInputs(inputs: readonly Prompt[]): number {
  return inputs.reduce((sum, input) => sum + (typeof input === 'string' ? roughTokens(input) : input.length), 0)
}
