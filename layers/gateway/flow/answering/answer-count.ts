import { sampleText } from '../../../tokenizer/sample-text.ts'
import type { Contract } from '../../contracts/contract.ts'
import { mostImages, type PricedRequest } from '../../domain/money/priced-request.ts'
import { formatOf, type UpstreamRoute } from '../../domain/routing/catalog.ts'
import { routeKey } from '../../domain/routing/route-order.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { promptText } from '../../wire/chat/prompt-text.ts'
import { type CountDeps, countTexts, tooManyCounts } from '../billing/count-texts.ts'
import { templateTokens } from '../billing/make-bill.ts'
import { startDeadline } from '../deadline.ts'
import type { AdmittedChat, AdmittedRequest } from '../request.ts'
import { callOf, fieldsFor } from '../routing/ask-chat.ts'
import { routeOrder } from '../routing/routes-in-order.ts'
import type { ChatDeps } from './chat-deps.ts'
import { toGatewayError } from './upstream-error.ts'

/** The most counts of one key at once, with its other requests that hold no credits, on all instances. */
const MOST_AT_ONCE = 4

/** The tokens of a prompt that is not sent: by its upstream's own count if that is free, else by our tokenizer. */
export async function answerCount(
  deps: ChatDeps,
  request: AdmittedChat,
  { countBody }: Pick<Contract, 'countBody'>,
): Promise<string> {
  requireFew(request)
  try {
    const tokens = (await askUpstream(deps, request)) ?? (await estimatePrompt(deps, request))
    const text = JSON.stringify(countBody?.(tokens))
    if (request.claim) await request.claim.keep(text)
    return text
  } catch (error) {
    throw toGatewayError(error)
  }
}

/** Each lane may have its part, and one at least. */
export function requireFew({ credential, freeUnderWay = 0 }: AdmittedRequest): void {
  const most = Math.ceil(MOST_AT_ONCE / credential.key.lanes)
  if (freeUnderWay > most) throw tooManyCounts()
}

/** A caller waits for the count, and our own tokenizer can replace it. */
const MOST_UPSTREAM_MS = 5_000
/** About the largest image that a model sees, if the catalog does not say. */
const ESTIMATED_PER_IMAGE = 1_600

/** Undefined if the first route does not count, or not in time. Throws for a fault of the caller's. */
async function askUpstream(deps: ChatDeps, { priced, nowMs }: AdmittedChat): Promise<number | undefined> {
  const { model, catalog, outputCap } = priced
  const inOrder = await routeOrder(priced, (one) => deps.health.isResting(routeKey(one), nowMs))
  const [route] = inOrder(model.routes)
  if (!route || !mayBeCounted(priced, route)) return undefined
  const deadline = startDeadline(nowMs + MOST_UPSTREAM_MS, deps.clock(), 'The upstream did not count in time.')
  try {
    return await deps.openProvider(catalog, route.provider).countTokens?.({
      ...callOf(priced, route, outputCap),
      asksWhole: true,
      idleTimeoutMs: MOST_UPSTREAM_MS,
      ...(await fieldsFor(priced, route, model.allowFields ?? [], { attempts: [] })),
      signal: deadline.signal,
    })
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.reason === 'rejected') throw error
    return undefined
  } finally {
    deadline.clear()
  }
}

/** Anthropic counts no prompt without a message; for Responses the instructions are enough. */
function mayBeCounted({ chat, catalog }: PricedRequest, { provider }: UpstreamRoute): boolean {
  const messages = (chat.body.messages ?? []) as readonly { readonly role?: unknown }[]
  return formatOf(catalog.providers.get(provider)) === 'responses' || messages.some(({ role }) => role !== 'system')
}

export async function estimatePrompt(
  deps: CountDeps & Pick<ChatDeps, 'countLater'>,
  request: Pick<AdmittedChat, 'requestId' | 'deadlineMs' | 'priced'>,
): Promise<number> {
  const { chat, model, promptBound } = request.priced
  const text = sampleText(promptText(chat.body))
  const { tokens } = await countTexts({ ...deps, countTokens: deps.countLater }, request, text.pieces)
  const images = mostImages(chat) * (model.mediaTokens?.image ?? ESTIMATED_PER_IMAGE)
  return Math.min(promptBound, text.scale(tokens) + templateTokens(chat) + images)
}
