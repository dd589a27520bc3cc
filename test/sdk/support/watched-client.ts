import OpenAI, { type ClientOptions } from 'openai'
import type { TestGateway } from '../../support/gateway.ts'

/** One HTTP call of the SDK, a retry being one of its own. */
export type Sent = {
  readonly response: Response
  readonly sentAtMs: number
  readonly answeredAtMs: number
}

/** The official SDK as it comes, and all that it sent. */
export function watchedClient(gateway: TestGateway, secret: string, options: ClientOptions = {}) {
  const sent: Sent[] = []
  const client = new OpenAI({
    baseURL: `${gateway.baseUrl}/v1`,
    apiKey: secret,
    fetch: async (url, init) => {
      const sentAtMs = performance.now()
      const response = await fetch(url, init)
      sent.push({ response, sentAtMs, answeredAtMs: performance.now() })
      return response
    },
    ...options,
  })
  return { client, sent }
}
