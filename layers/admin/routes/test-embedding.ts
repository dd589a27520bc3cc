import { readEmbeddingRequest } from '../../gateway/contracts/embeddings/embeddings.ts'
import { billFor, countsOf } from '../../gateway/domain/money/bill.ts'
import type { Nano } from '../../gateway/domain/money/money.ts'
import { NO_QUANTITIES } from '../../gateway/domain/money/price.ts'
import { priceRequest } from '../../gateway/domain/money/priced-request.ts'
import type { Catalog, PricedModel, UpstreamRoute } from '../../gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../../gateway/domain/routing/upstream-failure.ts'
import { awsTrouble, troubleLine } from '../../gateway/platform/aws/trouble.ts'
import type { OpenProvider } from '../../gateway/providers/open-provider.ts'
import { readUsage } from '../../gateway/wire/money/usage-counts.ts'

export type TestOutcome = {
  readonly ok: boolean
  readonly result: string
  readonly firstTokenMs?: number | undefined
  readonly tokens?: number | undefined
  readonly cost?: Nano | undefined
}

/** Shorter than API Gateway waits for an answer. */
export const LONGEST_TEST_MS = 20_000

/** One short text through one route of an embedding model. */
export async function testEmbedding(
  openProvider: OpenProvider,
  catalog: Catalog,
  model: PricedModel,
  route: UpstreamRoute,
): Promise<TestOutcome> {
  const value = { model: model.id, input: 'ok' }
  const chat = readEmbeddingRequest({ value, bytes: JSON.stringify(value).length, callerId: 'routes test' })
  const provider = openProvider(catalog, route.provider)
  if (!chat.embedding || !provider.embed) return { ok: false, result: 'unsupported: this dialect has no embeddings' }
  const startedMs = performance.now()
  try {
    const { usage } = await provider.embed({
      embedding: chat.embedding,
      chat,
      dimensions: model.dimensions ?? 0,
      model: route.model,
      idleTimeoutMs: route.idleTimeoutMs,
      extra: {},
      dropsUnknown: false,
      noteDropped: () => {},
      signal: AbortSignal.timeout(Math.min(route.firstByteTimeoutMs, LONGEST_TEST_MS)),
    })
    const firstTokenMs = Math.round(performance.now() - startedMs)
    const reported = readUsage(usage)
    const tokens = reported && countsOf(reported).prompt
    if (!tokens) return { ok: true, result: 'ok, but it reports no usage: it will be billed by estimate', firstTokenMs }
    const { cost } = billFor(priceRequest(chat, model, catalog), {
      quantities: { ...NO_QUANTITIES, prompt: tokens },
      reasoning: 0,
      source: 'upstream',
      usageRejected: false,
    })
    return { ok: true, result: 'ok', firstTokenMs, tokens, cost }
  } catch (error) {
    return { ok: false, result: reasonOf(error) }
  }
}

/** The reason why a route's test failed, in a few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return `${error.reason}: ${error.message}${causeOf(error)}`
  return (error as Error).name === 'TimeoutError' ? 'timeout: it took too long' : String(error)
}

/** A key that could not be read is often the operator's own trouble with AWS, and not the provider's. */
function causeOf({ cause }: UpstreamFailure): string {
  const trouble = awsTrouble(cause)
  if (trouble) return ` ${troubleLine(trouble)}`
  return cause instanceof Error && cause.message ? ` ${cause.message}` : ''
}
