import { createHmac } from 'node:crypto'
import { retry } from '../../layers/gateway/platform/retry.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import type { Tell } from './tell-notices.ts'

export const SECRET_PREFIX = 'whsec_'

const keyOf = (secret: string) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/** The bounds of Standard Webhooks. */
export function isWebhookSecret(secret: string): boolean {
  const { length } = keyOf(secret)
  return secret.startsWith(SECRET_PREFIX) && length >= 24 && length <= 64
}

/** The headers of Standard Webhooks. A receiver that has seen an id may ignore it, and one that is minutes old. */
export function signedHeaders(secret: string, id: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Posts a notice, again after a pause if it was not taken. Throws if that does not help; the next sweep tries again. */
export function webhookTeller(url: string, readSecret: () => Promise<string>, longestPauseMs = 500): Tell {
  return async (notice) => {
    const secret = await readSecret()
    return retry(() => post(notice, secret), {
      when: (error) => !(error instanceof NotTaken && error.isFinal),
      pauseMs: (attempt) => longestPauseMs * 2 ** attempt,
      tries: 4,
    })
  }

  async function post(notice: NoticeBody, secret: string): Promise<void> {
    const body = JSON.stringify(notice)
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signedHeaders(secret, notice.id, Date.now(), body) },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    })
    await response.body?.cancel()
    if (!response.ok) throw new NotTaken(response.status)
  }
}

class NotTaken extends Error {
  readonly isFinal: boolean

  constructor(status: number) {
    super(`The webhook answered with status ${status}.`)
    this.isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429
  }
}
