import OpenAI, { type ClientOptions } from 'openai'
import type { TestGateway } from '../../support/gateway.ts'

/** One HTTP call of the SDK, a retry being one of its own. */
export type Sent = {
  readonly body: Record<string, unknown>
  readonly response: Response
  /** The same answer once more, for the test to read, if it asked for copies. */
  readonly copy?: Response
  readonly sentAtMs: number
  readonly answeredAtMs: number
}

/** The official SDK as it comes, and all that it sent. */
export function watchedClient(
  gateway: TestGateway,
  secret: string,
  { keepCopy = false, ...options }: ClientOptions & { keepCopy?: boolean } = {},
) {
  const sent: Sent[] = []
  const client = new OpenAI({
    baseURL: `${gateway.baseUrl}/v1`,
    apiKey: secret,
    fetch: async (url, init) => {
      const sentAtMs = performance.now()
      const response = await fetch(url, init)
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {}
      const copy = keepCopy && { copy: response.clone() }
      sent.push({ body, response, ...copy, sentAtMs, answeredAtMs: performance.now() })
      return response
    },
    ...options,
  })
  return { client, sent }
}
