import { COUNTERS, creditsLeft, type LossDeps, leftIn, lossOf } from '../../layers/gateway/domain/admission/counters.ts'
import { isRemedy } from '../../layers/gateway/domain/admission/remedy.ts'
import type { AccountBalance } from '../../layers/gateway/domain/keys/account.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money/money.ts'
import { costOf, NO_QUANTITIES } from '../../layers/gateway/domain/money/price.ts'
import {
  affordableCap,
  capWithin,
  holdOf,
  lowerCap,
  mostImages,
  type PricedRequest,
  tokensOf,
} from '../../layers/gateway/domain/money/priced-request.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import { HTTP_ROUTES, isBilled } from '../../layers/gateway/endpoints.ts'
import { estimatePrompt, requireFew } from '../../layers/gateway/flow/answering/answer-count.ts'
import { toGatewayError } from '../../layers/gateway/flow/answering/upstream-error.ts'
import { estimateTexts } from '../../layers/gateway/flow/billing/bill-embedding.ts'
import type { CountDeps, CountTokens } from '../../layers/gateway/flow/billing/count-texts.ts'
import type { FinishDeadHolds } from '../../layers/gateway/flow/billing/finish-hold.ts'
import type { AdmittedChat, RoutedRequest } from '../../layers/gateway/flow/request.ts'
import { askChat } from '../../layers/gateway/flow/routing/ask-chat.ts'
import { askEmbedding } from '../../layers/gateway/flow/routing/ask-embedding.ts'
import { RouteHealth } from '../../layers/gateway/flow/routing/route-health.ts'
import { type RoutingDeps, tryRoutes } from '../../layers/gateway/flow/routing/try-routes.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { ADMISSION_RULES } from '../../layers/gateway/store/admission/admission-rules.ts'
import type { TakeLoss } from '../../layers/gateway/store/admission/take-loss.ts'
import type { ReadKey } from '../../layers/gateway/store/keys/read-key.ts'
import { admissionRefusal } from '../../layers/gateway/wire/admission/admission-refusal.ts'
import { OUTPUT_LIMITS } from '../../layers/gateway/wire/keys/introspection.ts'

type QuoteDeps = CountDeps &
  LossDeps & {
    readonly topUpUrl?: string | undefined
    readonly countLater: CountTokens
    readonly readKey: ReadKey
    readonly finishDeadHolds: FinishDeadHolds
    readonly wholeOf: (key: Key, nowMs: number) => Promise<Key>
    readonly accountOf: (key: Key) => Promise<AccountBalance | undefined>
  }

/** Tells what admission would hold for this request now, and what the request may cost. */
export async function answerQuote(deps: QuoteDeps, request: AdmittedChat): Promise<object> {
  requireFew(request)
  const { nowMs, endpoint } = request
  const asked: PricedRequest = { ...request.priced, isFree: false }
  // This answer is no stream, and its row must not say so.
  request.priced = { ...request.priced, chat: { ...asked.chat, stream: false } }
  const own = await deps.wholeOf(await withoutDeadHolds(deps, request), nowMs)
  const shared = await deps.accountOf(own)
  const key = { ...own, available: shared?.balance.available ?? own.available }
  const left = creditsLeft(key, nowMs)
  const isHidden = shared?.account.hidesBalance === true
  const [isPaid, tokensLeft = tokensOf(asked)] = [holdOf(asked) <= left, leftIn(key, 'tpm', nowMs)]
  const isWithin = tokensOf(asked) <= tokensLeft
  const cap = Math.min(isPaid ? asked.outputCap : affordableCap(asked, left), capWithin(asked, tokensLeft))
  const lowered = !isPaid && isHidden && left === key.available ? undefined : lowerCap(asked, cap, 1)
  const covered = isPaid && isWithin ? asked : lowered
  const priced = covered ?? asked
  await requireSendable(deps, request, priced)
  const prompt = await estimate(deps, request, priced)
  return {
    object: 'quote',
    endpoint: HTTP_ROUTES.find(
      (it) =>
        isBilled(it.endpoint) &&
        it.endpoint.contract === endpoint.contract &&
        it.endpoint.compacts === endpoint.compacts,
    )?.path,
    model: priced.model.id,
    catalog_version: priced.catalog.version,
    prompt_tokens: { estimated: prompt, most: priced.promptBound },
    output_tokens: {
      most: priced.outputCap,
      choices: priced.chat.choices,
      covered: coveredTokens(asked, key, isHidden, nowMs),
    },
    hold: covered ? formatCredits(holdOf(covered)) : null,
    cost: {
      without_output: formatCredits(costWith(priced, prompt, 0)),
      with_most_output: formatCredits(costWith(priced, prompt, priced.outputCap * priced.chat.choices)),
    },
    refusal: covered ? null : refusalOf(asked, key, shared, nowMs, deps.topUpUrl),
  }
}

/** Admission finishes dead requests before it refuses for their credits. */
async function withoutDeadHolds(deps: QuoteDeps, request: AdmittedChat): Promise<Key> {
  const { key } = request.credential
  if (request.deadHolds.length === 0) return key
  await deps.finishDeadHolds(key, request.deadHolds, request.deadlineMs)
  request.deadHolds = []
  return (await deps.readKey(key.address)) ?? key
}

async function estimate(deps: QuoteDeps, request: AdmittedChat, priced: PricedRequest): Promise<number> {
  const { embedding } = priced.chat
  if (!embedding) return estimatePrompt(deps, { ...request, priced })
  const { tokens } = await estimateTexts(deps, request, embedding.inputs)
  return Math.min(priced.promptBound, tokens)
}

/** The output tokens of each choice that the balance and the windows cover, as if there were no other limit. */
function coveredTokens(priced: PricedRequest, key: Key, isHidden: boolean, nowMs: number): object {
  const within = (left: bigint | undefined, capOf = affordableCap) =>
    left === undefined ? null : Math.max(0, capOf(priced, left))
  const windows = OUTPUT_LIMITS.map((name) => {
    const { api, counts } = COUNTERS[name]
    return [api, within(leftIn(key, name, nowMs), counts === 'tokens' ? capWithin : affordableCap)]
  })
  return { balance: within(isHidden ? undefined : key.available), ...Object.fromEntries(windows) }
}

function costWith({ model, chat }: PricedRequest, prompt: number, completion: number): Nano {
  return costOf(model.tokenPrice, { ...NO_QUANTITIES, prompt, completion, images: mostImages(chat) })
}

const OUTPUT_RULES = ADMISSION_RULES.filter(
  ({ refusal: why }) => isRemedy('lower the cap for credits', why) || isRemedy('lower the cap for tokens', why),
)

function refusalOf(
  priced: PricedRequest,
  key: Key,
  shared: AccountBalance | undefined,
  nowMs: number,
  topUpUrl?: string,
): object | null {
  const [hold, tokens] = [holdOf(priced), tokensOf(priced)]
  const demand = { requestId: '', hash: '', nowMs, hold, tokens, holdUntilMs: nowMs }
  const rule = OUTPUT_RULES.find(({ isMet }) => !isMet(key, demand))
  if (!rule) return null
  const shortage = shared && { account: shared.account, most: key.available }
  const { status, code, kind, message } = admissionRefusal(rule.refusal, key, { nowMs, priced }, shortage, topUpUrl)
  return { status, code: code ?? kind, message }
}

/** Every dialect looks at its signal before it sends anything: with this one it ends there. */
const NOT_SENT = new UpstreamFailure('rejected', 'Nothing was sent.')
const SEND_NOTHING = AbortSignal.abort(NOT_SENT)

/** No provider's key is read. */
const open = openProvider({ env: () => 'none', secret: async () => 'none' })
const health = new RouteHealth(Math.random)

/** Builds the request for its routes, as it would be sent, and throws the refusal if no route can take it. */
async function requireSendable(
  { clock, log, dailyLoss }: Pick<RoutingDeps, 'clock' | 'log'> & LossDeps,
  admitted: AdmittedChat,
  priced: PricedRequest,
): Promise<void> {
  const request: RoutedRequest = { ...admitted, priced, journey: { attempts: [] } }
  const { key } = admitted.credential
  const takeLoss: TakeLoss = async ({ amount, bound }) => lossOf(key, admitted.nowMs) + amount <= bound
  const { embedding } = priced.chat
  const deps = { openProvider: open, health, clock, log, takeLoss, dailyLoss }
  try {
    await tryRoutes<unknown>(deps, request, new AbortController().signal, (route) =>
      embedding ? askEmbedding(route, request, embedding, SEND_NOTHING) : askChat(route, request, SEND_NOTHING),
    )
  } catch (error) {
    if (error !== NOT_SENT) throw toGatewayError(error)
  }
}
