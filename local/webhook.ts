import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isWebhookSecret, SECRET_PREFIX } from '../functions/sweep/webhook.ts'
import { CliError } from '../layers/terminal/output.ts'

export const webhookSecretFile = (folder: string) => join(folder, 'webhook-secret')

/** The secret that notices are signed with: the given one, or one that the folder keeps. Throws a CliError. */
export async function webhookSecret(given: string | undefined, folder: string): Promise<string> {
  if (given !== undefined) return required(given, 'WAYBILL_WEBHOOK_SECRET')
  const file = webhookSecretFile(folder)
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined) return required(kept.trim(), file)
  const made = `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`
  await writeFile(file, `${made}\n`, { mode: 0o600, flag: 'wx' })
  return made
}

function required(secret: string, from: string): string {
  if (isWebhookSecret(secret)) return secret
  throw new CliError(`${from} must be 'whsec_' and the base64 of 24 to 64 bytes: openssl rand -base64 32`)
}
