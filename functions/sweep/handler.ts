import { secretName, WEBHOOK_SECRET } from '../../layers/gateway/names.ts'
import { openEventBus } from '../../layers/gateway/platform/aws/put-events.ts'
import { readOptional } from '../../layers/gateway/platform/config.ts'
import { secretFetcher } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import { openInstance } from '../instance.ts'
import { createSweep } from './create.ts'
import { isWebhookSecret, webhookTeller } from './webhook.ts'

const instance = openInstance()
const bus = readOptional('eventBus')
const put = bus === undefined ? undefined : openEventBus(bus)
const { stage } = instance.config

const url = readOptional('webhookUrl')
const fetchSecret = secretFetcher()
const post = url === undefined ? undefined : webhookTeller(url, readSecret)

/** For every notice anew: a new secret is used at once. */
async function readSecret(): Promise<string> {
  const name = secretName(stage ?? '', WEBHOOK_SECRET)
  const secret = await fetchSecret(name)
  if (secret !== undefined && isWebhookSecret(secret)) return secret
  throw new Error(
    `The secret ${name} must be 'whsec_' and the base64 of 24 to 64 bytes; docs/operate.md has the command.`,
  )
}

/** If the webhook fails, the bus gets the notice again, under its id. */
async function tell(notice: NoticeBody): Promise<void> {
  await put?.({ type: notice.type, detail: JSON.stringify({ ...notice, stage }) })
  await post?.(notice)
}

const by = [put && 'bus', post && 'webhook'].filter(Boolean).join(' and ')

export const handler = createSweep(instance, by ? tell : undefined, by)
