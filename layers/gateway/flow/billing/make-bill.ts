import { type Bill, billFor, countsOf, partsWithin } from '../../domain/money/bill.ts'
import { dearestLife, mostImages } from '../../domain/money/priced-request.ts'
import { readUsage } from '../../wire/money/usage-counts.ts'
import type { Tally } from '../answering/tally.ts'
import type { AdmittedChat } from '../request.ts'
import type { CountDeps } from './count-texts.ts'
import { type Estimate, estimateUsage } from './estimate-usage.ts'

type BilledRequest = Pick<AdmittedChat, 'requestId' | 'deadlineMs' | 'priced'>

/** Below this share of our own count, an upstream has counted only one of several choices. */
const LEAST_SHARE_OF_ESTIMATE = 2 / 3

const NOT_NEEDED: Estimate = { prompt: 0, completion: 0, isRough: false }

/** The upstream's own counts; for a count that is missing or unusable, an estimate of the delivered tokens. */
export function makeBill(deps: CountDeps, request: BilledRequest, tally: Tally): Bill | Promise<Bill> {
  const { priced } = request
  const reported = readUsage(tally.reported)
  const counts = countsOf(reported ?? {})
  const isCut = tally.cutTokens > 0
  // The upstream counts the tokens that were cut, too.
  const told = {
    // No prompt has 0 tokens.
    prompt: counts.prompt || undefined,
    completion: isCut ? undefined : believed(counts.completion, tally),
  }
  const wanted = {
    prompt: told.prompt === undefined,
    completion: told.completion === undefined || mayBeOfOneChoice(told.completion, tally),
  }
  const billBy = (estimate: Estimate) => {
    const prompt = told.prompt ?? estimate.prompt
    const completion =
      told.completion === undefined || (wanted.completion && isOfOneChoice(told.completion, estimate))
        ? estimate.completion
        : told.completion
    const isEstimate = prompt !== counts.prompt || completion !== counts.completion
    return billFor(priced, {
      quantities: {
        prompt,
        completion,
        ...partsWithin(prompt, counts.parts, dearestLife(priced)),
        images: mostImages(priced.chat),
      },
      reasoning: Math.min(counts.reasoning, completion),
      source: isEstimate ? 'estimate' : 'upstream',
      estimatedBy: isEstimate && estimate.isRough ? 'characters' : undefined,
      usageRejected: isEstimate && !isCut && reported !== undefined,
      upstreamCost: reported?.cost,
      serviceTier: tally.serviceTier,
      generated: isCut ? counts.completion : undefined,
      stopReason: tally.stopReason,
    })
  }
  if (!wanted.prompt && !wanted.completion) return billBy(NOT_NEEDED)
  return estimateUsage(deps, request, tally, wanted).then(billBy)
}

/** A count of 0 is wrong for an answer with content. */
function believed(count: number | undefined, { deliveredAnything }: Tally): number | undefined {
  return count === 0 && deliveredAnything ? undefined : count
}

/** Some upstreams report the tokens of one choice though they gave several: then the tokens are counted here. */
function mayBeOfOneChoice(completion: number, tally: Tally): boolean {
  return tally.choices >= 2 && !tally.isAtLeastSeen(completion)
}

/** A rough estimate is too rough to decide this: the upstream's count is used. */
function isOfOneChoice(completion: number, estimate: Estimate): boolean {
  return !estimate.isRough && completion < estimate.completion * LEAST_SHARE_OF_ESTIMATE
}
