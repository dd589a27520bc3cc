import { parseChatRequest } from '../../gateway/contracts/chat/chat-request.ts'
import { billFor, countsOf, partsWithin } from '../../gateway/domain/money/bill.ts'
import { priceRequest } from '../../gateway/domain/money/priced-request.ts'
import { type Catalog, kindOf, type PricedModel, type UpstreamRoute } from '../../gateway/domain/routing/catalog.ts'
import type { OpenProvider } from '../../gateway/providers/open-provider.ts'
import { speaks } from '../../gateway/wire/chat/delta.ts'
import { readUsage } from '../../gateway/wire/money/usage-counts.ts'
import { LONGEST_TEST_MS, reasonOf, type TestOutcome, testEmbedding } from './test-embedding.ts'

export type RouteTest = TestOutcome & {
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
}

const OUTPUT_CAP = 16

/** One tiny request through one route, without the gates: only the operator is billed, by the provider. */
export async function testRoute(
  openProvider: OpenProvider,
  catalog: Catalog,
  model: PricedModel,
  route: UpstreamRoute,
): Promise<RouteTest> {
  const about = { model: model.id, provider: route.provider, upstreamModel: route.model }
  if (kindOf(model) === 'embedding') return { ...about, ...(await testEmbedding(openProvider, catalog, model, route)) }
  const value = { model: model.id, max_tokens: OUTPUT_CAP, messages: [{ role: 'user', content: 'Say ok.' }] }
  const chat = parseChatRequest({ value, bytes: JSON.stringify(value).length, callerId: 'routes test' })
  const startedMs = performance.now()
  let firstTokenMs: number | undefined
  let usage: unknown
  try {
    const answer = await openProvider(catalog, route.provider).chat({
      chat,
      outputCap: OUTPUT_CAP,
      model: route.model,
      idleTimeoutMs: route.idleTimeoutMs,
      extra: {},
      dropsUnknown: false,
      mayWriteCache: false,
      mayWriteCache1h: false,
      asksWhole: false,
      noteDropped: () => {},
      signal: AbortSignal.timeout(Math.min(route.firstByteTimeoutMs + route.idleTimeoutMs, LONGEST_TEST_MS)),
    })
    for await (const parts of answer) {
      for (const part of parts) {
        if (part.kind === 'usage') usage = part.usage
        else if (part.kind === 'fault') throw part.failure
        else if (speaks(part.delta)) firstTokenMs ??= Math.round(performance.now() - startedMs)
      }
    }
  } catch (error) {
    return { ...about, ok: false, result: reasonOf(error) }
  }
  if (firstTokenMs === undefined) return { ...about, ok: false, result: 'empty: it said nothing' }
  const reported = readUsage(usage)
  const counts = reported && countsOf(reported)
  if (!counts?.prompt || !counts.completion) {
    return {
      ...about,
      ok: true,
      result: 'ok, but it reports no usage: answers will be billed by estimate',
      firstTokenMs,
    }
  }
  const { prompt, completion, parts, reasoning } = counts
  const { cost } = billFor(priceRequest(chat, model, catalog), {
    quantities: { prompt, completion, ...partsWithin(prompt, parts), images: 0 },
    reasoning,
    source: 'upstream',
    usageRejected: false,
  })
  return { ...about, ok: true, result: 'ok', firstTokenMs, tokens: prompt + completion, cost }
}
