import type { z } from 'zod'
import { parseStored } from '../../catalog/parse-catalog.ts'
import { parseChatRequest } from '../../gateway/contracts/chat/chat-contract.ts'
import { readEmbeddingRequest } from '../../gateway/contracts/embeddings/embeddings.ts'
import type { ChatRequest } from '../../gateway/domain/chat/chat.ts'
import { billFor, countsOf, partsWithin } from '../../gateway/domain/money/bill.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { NO_QUANTITIES, type Quantities } from '../../gateway/domain/money/price.ts'
import { priceRequest } from '../../gateway/domain/money/priced-request.ts'
import {
  type Catalog,
  kindOf,
  openCatalog,
  type PricedModel,
  type UpstreamRoute,
} from '../../gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../../gateway/domain/routing/upstream-failure.ts'
import { awsTrouble, troubleLine } from '../../gateway/platform/aws/trouble.ts'
import { type OpenProvider, openProvider } from '../../gateway/providers/open-provider.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { speaks } from '../../gateway/wire/chat/delta.ts'
import { readUsage } from '../../gateway/wire/money/usage-counts.ts'
import { AdminError } from '../api/admin-error.ts'
import type { Administered } from '../api/call.ts'
import type { routesTestBody } from '../api/shapes/bodies.ts'
import type { RouteTestShape } from '../api/shapes/catalog.ts'

type WantedRoutes = z.output<typeof routesTestBody>

/** The routes of a page are tested at once, so that it takes no longer than the slowest of them. */
const PAGE = 8

export async function testRoutes({ tables, apiKeys }: Administered, wanted: WantedRoutes, first: number) {
  const stored = await readStoredCatalog(tables)()
  if (!stored) throw new AdminError('conflict', 'There is no catalog yet. Put one in force first.')
  const parsed = parseStored(stored.data)
  if ('faults' in parsed) throw new AdminError('conflict', `The catalog in force is not valid: ${parsed.faults[0]}`)
  const catalog = openCatalog(parsed.catalog, stored.version)
  const chosen = chosenOf(catalog, wanted)
  const open = openProvider(apiKeys)
  const page = chosen.slice(first, first + PAGE)
  const tests = await Promise.all(page.map(({ model, route }) => testRoute(open, catalog, model, route)))
  return { tests, hasMore: chosen.length > first + PAGE }
}

function chosenOf(catalog: Catalog, { model: wanted, provider }: WantedRoutes) {
  const models = [...catalog.models.values()].filter(({ id }) => wanted === undefined || id === wanted)
  if (models.length === 0)
    throw new AdminError('conflict', `The catalog has no active model${wanted ? ` '${wanted}'` : ''}.`)
  const chosen = models.flatMap((model) =>
    model.routes
      .filter((route) => provider === undefined || route.provider === provider)
      .map((route) => ({ model, route })),
  )
  if (chosen.length === 0)
    throw new AdminError('conflict', `No active model has a route to the provider '${provider}'.`)
  return chosen
}

type Tested = {
  readonly provider: ReturnType<OpenProvider>
  readonly model: PricedModel
  readonly route: UpstreamRoute
}

type Heard = {
  readonly chat: ChatRequest
  readonly firstTokenMs: number
  /** Undefined if the upstream does not report them. */
  readonly quantities: Quantities | undefined
  readonly reasoning?: number
}

const OUTPUT_CAP = 16
/** Shorter than API Gateway waits for an answer. */
const LONGEST_TEST_MS = 20_000
const COMMON = { extra: {}, dropsUnknown: false, noteDropped: () => {} }

/** One tiny request through one route, without the gates: only the operator is billed, by the provider. */
export async function testRoute(
  openProvider: OpenProvider,
  catalog: Catalog,
  model: PricedModel,
  route: UpstreamRoute,
): Promise<RouteTestShape> {
  const names = { model: model.id, provider: route.provider, upstream_model: route.model }
  const about = { object: 'route.test', ...names, first_token_ms: null, tokens: null, cost: null } as const
  const [ask, estimated] = kindOf(model) === 'embedding' ? ([embed, 'it'] as const) : ([converse, 'answers'] as const)
  try {
    const heard = await ask({ provider: openProvider(catalog, route.provider), model, route })
    const { chat, firstTokenMs: first_token_ms, quantities, reasoning = 0 } = heard
    if (!quantities) {
      const result = `ok, but it reports no usage: ${estimated} will be billed by estimate`
      return { ...about, ok: true, result, first_token_ms }
    }
    const counted = { quantities, reasoning, source: 'upstream', usageRejected: false } as const
    const { cost } = billFor(priceRequest(chat, model, catalog), counted)
    const tokens = quantities.prompt + quantities.completion
    return { ...about, ok: true, result: 'ok', first_token_ms, tokens, cost: formatCredits(cost) }
  } catch (error) {
    return { ...about, ok: false, result: reasonOf(error) }
  }
}

async function converse({ provider, model, route }: Tested): Promise<Heard> {
  const value = { model: model.id, max_tokens: OUTPUT_CAP, messages: [{ role: 'user', content: 'Say ok.' }] }
  const chat = parseChatRequest({ value, bytes: JSON.stringify(value).length, callerId: 'routes test' })
  const startedMs = performance.now()
  let firstTokenMs: number | undefined
  let usage: unknown
  const answer = await provider.chat({
    ...COMMON,
    chat,
    outputCap: OUTPUT_CAP,
    model: route.model,
    idleTimeoutMs: route.idleTimeoutMs,
    mayWriteCache: false,
    mayWriteCache1h: false,
    asksWhole: false,
    signal: AbortSignal.timeout(Math.min(route.firstByteTimeoutMs + route.idleTimeoutMs, LONGEST_TEST_MS)),
  })
  for await (const parts of answer) {
    for (const part of parts) {
      if (part.kind === 'usage') usage = part.usage
      else if (part.kind === 'fault') throw part.failure
      else if (speaks(part.delta)) firstTokenMs ??= Math.round(performance.now() - startedMs)
    }
  }
  if (firstTokenMs === undefined) throw new UpstreamFailure('empty', 'it said nothing')
  const reported = readUsage(usage)
  const counts = reported && countsOf(reported)
  if (!counts?.prompt || !counts.completion) return { chat, firstTokenMs, quantities: undefined }
  const { prompt, completion, parts, reasoning } = counts
  return {
    chat,
    firstTokenMs,
    quantities: { ...NO_QUANTITIES, prompt, completion, ...partsWithin(prompt, parts) },
    reasoning,
  }
}

async function embed({ provider, model, route }: Tested): Promise<Heard> {
  const value = { model: model.id, input: 'ok' }
  const chat = readEmbeddingRequest({ value, bytes: JSON.stringify(value).length, callerId: 'routes test' })
  const { embedding } = chat
  if (!embedding || !provider.embed) throw new UpstreamFailure('unsupported', 'this dialect has no embeddings')
  const startedMs = performance.now()
  const { usage } = await provider.embed({
    ...COMMON,
    embedding,
    chat,
    dimensions: model.dimensions ?? 0,
    model: route.model,
    idleTimeoutMs: route.idleTimeoutMs,
    signal: AbortSignal.timeout(Math.min(route.firstByteTimeoutMs, LONGEST_TEST_MS)),
  })
  const firstTokenMs = Math.round(performance.now() - startedMs)
  const reported = readUsage(usage)
  const prompt = reported && countsOf(reported).prompt
  return { chat, firstTokenMs, quantities: prompt ? { ...NO_QUANTITIES, prompt } : undefined }
}

function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return `${error.reason}: ${error.message}${causeOf(error)}`
  return (error as Error).name === 'TimeoutError' ? 'timeout: it took too long' : String(error)
}

/** A key that could not be read is often the operator's own trouble with AWS, and not the provider's. */
function causeOf({ cause }: UpstreamFailure): string {
  const trouble = awsTrouble(cause)
  if (trouble) return ` ${troubleLine(trouble)}`
  return cause instanceof Error && cause.message ? ` ${cause.message}` : ''
}
