import type { JsonObject } from '../domain/basics/json-object.ts'
import type { Answer, ChatPart } from '../domain/chat/chat.ts'
import type { AnthropicEntry, OpenAiEntry } from '../domain/routing/catalog.ts'
import type { UpstreamFailure } from '../domain/routing/upstream-failure.ts'
import { isJson, type Parsed, readJson, tooDeep } from './http/json-reply.ts'
import { post, type Reply, targetOf } from './http/post.ts'
import { type EventReader, readEvents } from './http/server-sent-events.ts'
import { type AnyCall, limitRequest } from './limit-request.ts'
import { type Authorize, type ChatCall, CONTENT_TYPE, type KeyHeader } from './provider.ts'

type Upstream = {
  readonly baseUrl: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly authorize: Authorize | undefined
  readonly keyHeader: KeyHeader
}

/** One thing that an upstream does over HTTP, and all in which the dialects differ there. */
type Verb<Call, Result> = {
  readonly path: string
  readonly toRequest: (call: Call) => object
  /** Names and values of headers of this call, in turns. */
  readonly headersOf?: (call: Call) => readonly string[]
  /** Reads a reply with status 200. Providers quote their key in errors, so it is known here. */
  readonly read: (reply: Reply, call: Call, key: string | undefined) => Result | Promise<Result>
  readonly failureOf?: (failure: UpstreamFailure) => UpstreamFailure
}

export const bearer = (key: string) => ['authorization', `Bearer ${key}`] as const

export function httpUpstream({ baseUrl, headers: more, authorize, keyHeader }: Upstream) {
  const address = baseUrl.replace(/\/+$/, '')
  const headers = { ...more, 'content-type': CONTENT_TYPE, accept: 'text/event-stream, application/json' }
  return <Call extends AnyCall, Result>({ path, toRequest, headersOf, read, failureOf }: Verb<Call, Result>) => {
    const url = new URL(`${address}${path}`)
    const target = targetOf(url, headers)
    return async (call: Call): Promise<Result> => {
      const body = JSON.stringify(limitRequest(toRequest(call), call))
      const { headers: signed = [], secret: key } = (await authorize?.({ url, body, keyHeader })) ?? {}
      const headers = headersOf ? [...signed, ...headersOf(call)] : signed
      const reply = await post({ target, headers, body, idleTimeoutMs: call.idleTimeoutMs, signal: call.signal })
      if (reply.status === 200) {
        call.noteAnswered?.()
        return read(reply, call, key)
      }
      const { readErrorReply } = await import('#error-reply')
      const failure = await readErrorReply(reply, key, call.model)
      throw failureOf ? failureOf(failure) : failure
    }
  }
}

type ReadWhole = (answer: JsonObject, call: ChatCall, key: string | undefined) => ChatPart[]
type OpenEvents = (call: ChatCall, key: string | undefined) => EventReader

export function answerReader(readWhole: ReadWhole, openEvents: OpenEvents) {
  return (reply: Reply, call: ChatCall, key: string | undefined): Answer | Promise<Answer> => {
    if (!isJson(reply)) return readEvents(reply, call, openEvents(call, key))
    const read = ({ object, isCut }: Parsed): Answer => {
      const parts = readWhole(object, call, key)
      if (isCut) parts.push({ kind: 'fault', failure: tooDeep() })
      return [parts]
    }
    const answer = readJson(reply)
    return answer instanceof Promise ? answer.then(read) : read(answer)
  }
}

/** The tier at the list price, of hosts at which a request without a tier may be served in a dearer one. */
const AT_LIST_PRICE = [
  { host: /^(?:.+\.)?api\.openai\.com$/, tier: 'default' },
  { host: /^api\.anthropic\.com$/, tier: 'standard_only' },
  { host: /^api\.groq\.com$/, tier: 'on_demand' },
]

export function serviceTierOf({ serviceTier, baseUrl }: OpenAiEntry | AnthropicEntry): string | undefined {
  const { hostname } = new URL(baseUrl)
  return serviceTier ?? AT_LIST_PRICE.find(({ host }) => host.test(hostname))?.tier
}

/** The caller's tier is replaced unless the operator allows it. `auto` may be dearer, so it becomes the list price. */
export function inServiceTier(
  request: JsonObject,
  { extra }: ChatCall,
  tier: string | undefined,
  atListPrice = 'default',
): JsonObject {
  const { service_tier: asked, ...rest } = request
  if (asked !== undefined && asked === extra.service_tier) return request
  const sent = tier ?? (asked === 'auto' ? atListPrice : asked)
  return sent === undefined ? rest : { ...rest, service_tier: sent }
}
