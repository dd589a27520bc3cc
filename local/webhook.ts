import { createHmac, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tell } from '../functions/sweep/tell-notices.ts'
import { retry } from '../layers/gateway/platform/retry.ts'
import type { NoticeBody } from '../layers/gateway/wire/keys/notice-body.ts'
import { CliError } from '../layers/terminal/output.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
const MOST_MS = 10_000
const TRIES = 4
const PAUSE_MS = 500

export const webhookSecretFile = (folder: string) => join(folder, 'webhook-secret')

/** The secret that notices are signed with: the given one, or one that the folder keeps. Throws a CliError. */
export async function webhookSecret(given: string | undefined, folder: string): Promise<string> {
  if (given !== undefined) return required(given, 'WAYBILL_WEBHOOK_SECRET')
  const file = webhookSecretFile(folder)
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined) return required(kept.trim(), file)
  const made = `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
  await writeFile(file, `${made}\n`, { mode: 0o600, flag: 'wx' })
  return made
}

/** The bounds of Standard Webhooks. */
function required(secret: string, from: string): string {
  const { length } = keyOf(secret)
  if (secret.startsWith(SECRET_PREFIX) && length >= 24 && length <= 64) return secret
  throw new CliError(`${from} must be 'whsec_' and the base64 of 24 to 64 bytes: openssl rand -base64 32`)
}

const keyOf = (secret: string) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/** The headers of Standard Webhooks. A receiver that has seen an id may ignore it, and one that is minutes old. */
export function signedHeaders(secret: string, id: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Posts a notice, again after a pause if it was not taken. Throws if that does not help; the next sweep tries again. */
export function webhookTeller(url: string, secret: string, longestPauseMs = PAUSE_MS): Tell {
  return (notice) =>
    retry(() => post(notice), {
      when: (error) => !(error instanceof NotTaken && error.isFinal),
      pauseMs: (attempt) => longestPauseMs * 2 ** attempt,
      tries: TRIES,
    })

  async function post(notice: NoticeBody): Promise<void> {
    const body = JSON.stringify(notice)
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signedHeaders(secret, notice.id, Date.now(), body) },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(MOST_MS),
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
