import { type JsonObject, parseJson } from '../../layers/gateway/domain/basics/json-object.ts'
import { keyFor, parseProviderSecret } from '../../layers/gateway/domain/routing/provider-secret.ts'
import { PROBE_SECRET, secretName } from '../../layers/gateway/names.ts'
import type { ProbeSettings } from '../../layers/gateway/platform/config.ts'
import type { FetchSecret } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'

const ANSWER_TIMEOUT_MS = 10_000

type Answer = { readonly status: number; readonly requestId: string | null; readonly text: string }

/** Lists the models as a client does, on a fresh connection. Throws unless a list comes in time. */
export function createProbe(
  { stage, baseUrl }: ProbeSettings,
  fetchSecret: FetchSecret,
  timeoutMs = ANSWER_TIMEOUT_MS,
) {
  const url = `${baseUrl}/models`

  return async (): Promise<{ models: number }> => {
    const answer = await ask(url, await readOwnKey(), timeoutMs)
    const models = listIn(answer)
    if (models) return { models: models.length }
    // Nothing of the body, which could repeat the key.
    const id = /^req_\w{26}$/.test(answer.requestId ?? '') ? ` (${answer.requestId})` : ''
    throw new Error(`GET ${url} was answered with ${answer.status}${id}, not with a list of models.`)
  }

  /** For every run anew: a frozen function cannot refresh a copy in the background, and a new key works at once. */
  async function readOwnKey(): Promise<string> {
    const name = secretName(stage, PROBE_SECRET)
    const text = await fetchSecret(name)
    if (text === undefined) throw new Error(`There is no secret ${name}: docs/deploy.md has the commands that make it.`)
    return keyFor(name, parseProviderSecret(text), baseUrl)
  }
}

async function ask(url: string, key: string, timeoutMs: number): Promise<Answer> {
  // The firewall's common rules match a request without a User-Agent (NoUserAgent_HEADER; "waf-block-http-requests-no-user-agent"
  // in AWS's knowledge center).
  const headers = { Authorization: `Bearer ${key}`, 'User-Agent': 'waybill-probe', Connection: 'close' }
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    return { status: response.status, requestId: response.headers.get('x-request-id'), text: await response.text() }
  } catch (error) {
    const { message, cause } = error as Error
    // The words of `fetch` itself are "fetch failed".
    const reason = cause instanceof Error ? cause.message : message
    throw new Error(`GET ${url} was not answered within ${timeoutMs} ms: ${reason}`, { cause: error })
  }
}

function listIn({ status, text }: Answer): unknown[] | undefined {
  if (status !== 200) return undefined
  const { object, data } = (parseJson(text) ?? {}) as JsonObject
  return object === 'list' && Array.isArray(data) ? data : undefined
}
