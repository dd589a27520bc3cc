import { type JsonObject, parseJson } from '../../layers/gateway/domain/basics/json-object.ts'
import { keyFor, parseProviderSecret } from '../../layers/gateway/domain/routing/provider-secret.ts'
import { PROBE_SECRET, secretName } from '../../layers/gateway/names.ts'
import type { ProbeSettings } from '../../layers/gateway/platform/config.ts'
import type { FetchSecret } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'

type Wanted = { readonly name: string; readonly object: string; readonly field: string }
type Model = { readonly id: string; readonly kind: string; readonly pricing: Readonly<Record<string, string>> }

/** Asks the cheapest model for a few tokens as a client does, on fresh connections. Throws unless they come in time. */
export function createProbe({ stage, baseUrl, apiUrl }: ProbeSettings, fetchSecret: FetchSecret, timeoutMs = 10_000) {
  return async (): Promise<{ models: number; asked: string }> => {
    const keyAt = await readOwnKey()
    const list = { name: 'a list of models', object: 'list', field: 'data' }
    const models = (await ask(`${apiUrl}/models`, keyAt(apiUrl), timeoutMs, list)) as Model[]
    const asked = cheapest(models)
    const chat = { name: `an answer of '${asked}'`, object: 'chat.completion', field: 'choices' }
    // Fewer tokens would be refused by OpenAI's Responses API.
    const body = { model: asked, max_tokens: 16, messages: [{ role: 'user', content: 'Say OK.' }] }
    await ask(`${baseUrl}/chat/completions`, keyAt(baseUrl), timeoutMs, chat, JSON.stringify(body))
    return { models: models.length, asked }
  }

  /** For every run anew: a frozen function cannot refresh a copy in the background, and a new key works at once. */
  async function readOwnKey(): Promise<(url: string) => string> {
    const name = secretName(stage, PROBE_SECRET)
    const text = await fetchSecret(name)
    if (text === undefined) throw new Error(`There is no secret ${name}: docs/deploy.md has the commands that make it.`)
    return (url) => keyFor(name, parseProviderSecret(text), url)
  }
}

function cheapest(models: readonly Model[]): string {
  const priceOf = ({ pricing }: Model) => Number(pricing.prompt) + Number(pricing.completion)
  const [first] = models.filter(({ kind }) => kind === 'chat').toSorted((a, b) => priceOf(a) - priceOf(b))
  if (!first) throw new Error('The key of the probe may use no model that answers chats.')
  return first.id
}

/** The items of what is wanted. With a body it is a POST. Nothing of a wrong answer is told: it could repeat the key. */
async function ask(url: string, key: string, timeoutMs: number, wanted: Wanted, body?: string): Promise<unknown[]> {
  const method = body === undefined ? 'GET' : 'POST'
  // The firewall's common rules match a request without a User-Agent (NoUserAgent_HEADER).
  const ours = { 'User-Agent': 'waybill-probe', Connection: 'close', 'Content-Type': 'application/json' }
  const headers = { Authorization: `Bearer ${key}`, ...ours }
  const options = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) } as const
  const answer = fetch(url, { ...options, ...(body && { body }) })
  const text = answer.then((it) => it.text())
  const [{ status, headers: told }, read] = await Promise.all([answer, text]).catch((error) => {
    const { message, cause } = error as Error
    // The words of `fetch` itself are "fetch failed".
    const reason = cause instanceof Error ? cause.message : message
    throw new Error(`${method} ${url} was not answered within ${timeoutMs} ms: ${reason}`, { cause: error })
  })
  const { object, [wanted.field]: items } = (parseJson(read) ?? {}) as JsonObject
  if (status === 200 && object === wanted.object && Array.isArray(items)) return items
  const [id] = /^req_\w{26}$/.exec(told.get('x-request-id') ?? '') ?? []
  throw new Error(`${method} ${url} was answered with ${status}${id ? ` (${id})` : ''}, not with ${wanted.name}.`)
}
