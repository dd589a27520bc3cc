import { type Answer, type ChatPart, isWhole, MAX_WHOLE_BYTES } from '../../domain/chat/chat.ts'
import { askedTier, mayWriteCache, mayWriteCache1h, type PricedRequest } from '../../domain/money/priced-request.ts'
import {
  FIRST_BYTE_TIMEOUT_MS,
  formatOf,
  type ProviderEntry,
  providerFields,
  type UpstreamRoute,
} from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { ChatCall } from '../../providers/provider.ts'
import { isAnswer } from '../../wire/chat/delta.ts'
import type { Tally } from '../answering/tally.ts'
import type { Journey, RoutedRequest } from '../request.ts'
import type { AskedRoute } from './try-routes.ts'

/** A route has answered when it has said something: until then another route, or an honest status, is possible. */
export async function askChat(
  { provider, candidate, tally }: AskedRoute,
  { priced, journey }: RoutedRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const { route, outputCap, allowFields } = candidate
  // Nothing bounds the output of a provider's own compaction but the model's own limit, so all of it must be held.
  const compacts =
    priced.chat.compacts === true &&
    outputCap === priced.model.maxOutputTokens &&
    candidate.fallbackModel === undefined &&
    formatOf(priced.catalog.providers.get(route.provider)) === 'responses'
  const asksWhole = compacts || mayComeWhole(priced, route, outputCap)
  journey.asksWhole = asksWhole
  const fields = await fieldsFor(priced, route, allowFields, journey)
  tally.offered = fields.chat.hosted
  tally.askedTier = fields.tier
  // A whole answer sends nothing before its end, so it has until the request's own deadline.
  const ms = route.firstByteTimeoutMs
  const beginning = asksWhole ? { signal, begun: () => {} } : untilBegun(signal, ms, `No answer began within ${ms} ms.`)
  try {
    const answer = await provider.chat({
      ...callOf(priced, route, outputCap),
      compacts,
      asksWhole,
      ...fields,
      noteAnswered: () => {
        tally.isAnswered = true
      },
      signal: beginning.signal,
    })
    return isWhole(answer) ? usable(answer.flat(), tally) : await begun(answer[Symbol.asyncIterator](), tally)
  } finally {
    beginning.begun()
  }
}

export function callOf(priced: PricedRequest, { model, idleTimeoutMs }: UpstreamRoute, outputCap: number) {
  const { chat } = priced
  const [writes, writes1h] = [mayWriteCache(priced), mayWriteCache1h(priced)]
  return { chat, outputCap, model, idleTimeoutMs, mayWriteCache: writes, mayWriteCache1h: writes1h }
}

export async function fieldsFor(
  priced: PricedRequest,
  { provider }: UpstreamRoute,
  allowFields: readonly string[],
  journey: Journey,
): Promise<Pick<ChatCall, 'chat' | 'extra' | 'tier' | 'dropsUnknown' | 'noteDropped'>> {
  const entry = priced.catalog.providers.get(provider)
  const { chat: asked } = priced
  const isPlain = asked.unknown.length === 0 && asked.hosted.length === 0
  const allowed = isPlain ? NO_FIELDS : new Set([...allowFields, ...providerFields(entry)])
  const late = asked.hosted.length > 0 || asked.mayBeSealed ? await import('#advice') : undefined
  const { chat, dropped: tools } = late?.offerTools(priced, entry, allowed) ?? { chat: asked, dropped: [] }
  const { extra, dropped, tier } = extraFields(priced, entry, allowed)
  const noteDropped = (names: readonly string[]) => {
    if (names.length > 0) journey.droppedFields = [...(journey.droppedFields ?? []), ...names]
  }
  noteDropped([...dropped, ...tools])
  const own = late?.unsealedFor(chat, provider) ?? chat
  return { chat: own, extra, tier, dropsUnknown: entry?.unknownFields === 'drop', noteDropped }
}

/** An answer that came whole, unless it has a fault, or nothing at all. */
function usable(parts: readonly ChatPart[], tally: Tally): Answer {
  if (parts.some(isAnswer) && parts.every(({ kind }) => kind !== 'fault')) return [parts]
  for (const part of parts) tally.take(part)
  if (tally.fault) throw tally.fault
  if (!tally.isCounted) throw empty()
  return [[]]
}

/** A stream, once it has content, or has ended with no more than its usage. */
async function begun(batches: AsyncIterator<readonly ChatPart[]>, tally: Tally): Promise<Answer> {
  try {
    return continueFrom(await readLeading(batches, tally), batches)
  } catch (error) {
    await batches.return?.()
    throw error
  }
}

/** A signal that is aborted with the given one, or with these words if nothing has begun within its own timeout. */
export function untilBegun(signal: AbortSignal, ms: number, words: string) {
  const ending = new AbortController()
  const end = () => ending.abort(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const timer = setTimeout(() => ending.abort(new UpstreamFailure('timeout', words)), ms)
  return { signal: ending.signal, begun: () => clearTimeout(timer) }
}

/** The first batch with content of any kind, or an end. The parts before it say nothing but usage. */
async function readLeading(batches: AsyncIterator<readonly ChatPart[]>, tally: Tally): Promise<readonly ChatPart[]> {
  for (;;) {
    const { done, value } = await batches.next()
    if (done) break
    const first = value.find((part) => part.kind === 'fault' || isAnswer(part))
    if (first && first.kind !== 'fault') return value
    for (const part of value) tally.take(part)
    if (tally.fault) await readUsageOf(batches, tally)
    if (tally.fault) throw tally.fault
  }
  if (!tally.isCounted) throw empty()
  return []
}

function empty(): UpstreamFailure {
  return new UpstreamFailure('empty', 'The upstream sent no answer.')
}

function continueFrom(leading: readonly ChatPart[], rest: AsyncIterator<readonly ChatPart[]>): Answer {
  let first: readonly ChatPart[] | undefined = leading
  const next = (): Promise<IteratorResult<readonly ChatPart[]>> => {
    if (!first) return rest.next()
    const value = first
    first = undefined
    return Promise.resolve({ done: false, value })
  }
  const leave = async () => {
    await rest.return?.()
    return { done: true as const, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) }
}

/** The most bytes of a token in JSON. */
const MOST_BYTES_OF_TEXT = 128
/** The most bytes of a token of audio, or of one with twenty others and their log probabilities beside it. */
const MOST_BYTES_OF_MORE = 8 * 1024
const MORE_THAN_TEXT = ['logprobs', 'top_logprobs', 'audio', 'modalities']

// True if an upstream is asked for a whole answer, which is cheaper to read and carries more. An answer that may be too
// long for that is streamed: once it is too long it would be thrown away, and paid for at its cap.
function mayComeWhole({ chat, catalog }: PricedRequest, route: UpstreamRoute, outputCap: number): boolean {
  // A route with a short timeout must get a first token, which a whole answer has only at its end.
  if (chat.stream || route.firstByteTimeoutMs < FIRST_BYTE_TIMEOUT_MS) return false
  if (catalog.providers.get(route.provider)?.upstreamStream) return false
  const isMore = MORE_THAN_TEXT.some((name) => chat.body[name] || chat.raw[name])
  const bytesPerToken = isMore ? MOST_BYTES_OF_MORE : MOST_BYTES_OF_TEXT
  return outputCap * chat.choices * bytesPerToken <= MAX_WHOLE_BYTES
}

/** An upstream is read for so long behind the end of the content that is used: its usage comes last. */
const USAGE_WAIT_MS = 5_000

type Take = (parts: readonly ChatPart[]) => void | Promise<void>

/**
 * Gives each batch of an answer to `take`, until the tally is closed: cut at its cap, too long, or faulty. From then on only
 * the usage is read, because the upstream bills the answer whatever becomes of it. Throws the fault.
 */
export function readAnswer(answer: Answer, tally: Tally, take: Take): void | Promise<void> {
  if (!isWhole(answer)) return readBatches(answer[Symbol.asyncIterator](), tally, take)
  for (const parts of answer) take(parts)
  if (tally.fault) throw tally.fault
}

async function readBatches(batches: AsyncIterator<readonly ChatPart[]>, tally: Tally, take: Take): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await batches.next()
      if (done) break
      const taking = take(value)
      if (taking) await taking
      if (!tally.isClosed) continue
      await readUsageOf(batches, tally)
      break
    }
  } finally {
    await batches.return?.()
  }
  if (tally.fault) throw tally.fault
}

/** Reads on for the usage, unless it has come with the end, or the upstream has said itself that this is no answer. */
async function readUsageOf(batches: AsyncIterator<readonly ChatPart[]>, tally: Tally): Promise<void> {
  if (tally.fault?.reason === 'error_event' || tally.fault?.reason === 'rejected') return
  const before = tally.reported
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, USAGE_WAIT_MS, 'late')
  })
  try {
    while (tally.reported === before) {
      const reading = batches.next()
      reading.catch(() => {})
      const next = await Promise.race([reading, late])
      if (next === 'late' || next.done) return
      for (const part of next.value) if (part.kind === 'usage') tally.take(part)
    }
  } catch {
    // The upstream has broken off, and there is no usage.
  } finally {
    clearTimeout(timer)
  }
}

const NO_FIELDS: ReadonlySet<string> = new Set()

/** Fields that are unknown or may cost more pass if the operator allows them, are left out by 'drop', or refused. */
function extraFields(priced: PricedRequest, entry: ProviderEntry | undefined, allowed: ReadonlySet<string>) {
  const { unknown, native = [], hosted, raw, original } = priced.chat
  const extra: Record<string, unknown> = {}
  const dropped: string[] = []
  let tier: string | undefined
  const format = formatOf(entry)
  if (format !== (original?.contract ?? 'chat')) dropped.push(...native)
  if (unknown.length === 0 && hosted.length === 0) return { extra, dropped, tier }
  for (const { root } of hosted) if (allowed.has(root)) extra[root] = raw[root]
  const wanted = askedTier(priced)
  for (const { root, name, param, code, complaint, isOptional, tier: asked, formats } of unknown) {
    const isPriced = asked !== undefined && asked === wanted && format && formats?.includes(format)
    if (isPriced) tier = asked
    if (isPriced || allowed.has(root)) extra[root] = raw[root]
    else if (isOptional || entry?.unknownFields === 'drop') dropped.push(name)
    else throw new UpstreamFailure('unsupported', complaint(), { param, code })
  }
  return { extra, dropped, tier }
}
