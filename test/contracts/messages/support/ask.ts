import Anthropic, { type ClientOptions } from '@anthropic-ai/sdk'
import type { TestGateway } from '../../../support/gateway.ts'

export const HELLO = {
  model: 'test-model',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Hello' }],
}

/** The official SDK as it comes, but for its retries. */
export function openClient(gateway: TestGateway, secret: string, options: ClientOptions = {}): Anthropic {
  return new Anthropic({ baseURL: gateway.baseUrl, apiKey: secret, maxRetries: 0, ...options })
}

/** One request as it is, with the key where Anthropic's clients have it. */
export function ask(
  { baseUrl }: TestGateway,
  secret: string,
  body: unknown,
  { path = '/v1/messages', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'X-Api-Key': secret, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}
