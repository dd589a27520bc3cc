import { z } from 'zod'
import { kind, orNull, text, texts } from '../../../../layers/admin/api/shapes/parts.ts'
import { amount } from '../../../../layers/admin/api/shapes/usage-record.ts'
import { SCOPES } from '../../../../layers/gateway/endpoints.ts'
import { size } from '../contracts/parts.ts'

export const Window = z
  .object({
    limit: size('The most requests in the window.'),
    remaining: size('Requests that are left in it.'),
    reset: size('Seconds until the window is whole again.'),
  })
  .describe('A limit on requests.')

const CreditWindow = z
  .object({
    limit: amount('The most credits in the window.'),
    remaining: amount('Credits of it that are neither held nor charged.'),
    reset: size('Seconds until the next window begins.'),
  })
  .describe('A limit on credits; null for none.')

const secret = z.object({
  prefix: text('The beginning of every secret.'),
  last_four: text('The last four characters of the secret that asks.'),
  state: z.enum(['current', 'grace']).describe('`grace` for the old secret of a rotated key.'),
  expires_at: orNull(
    z.int().describe('Unix seconds at which the secret that asks ends: with its grace period or with the key.'),
  ),
})

const limits = z.object({
  rpm: Window.describe('Requests per minute.'),
  daily: Window.describe('Requests of this UTC day.'),
  concurrent: z
    .object({ limit: size('The most requests at once.'), in_use: size('Other requests that are under way.') })
    .describe('Requests at once.'),
  daily_credits: CreditWindow.nullable().describe('Credits of this UTC day; null if they are unlimited.'),
  monthly_credits: CreditWindow.nullable().describe('Credits of this UTC month; null if they are unlimited.'),
})

/** A key as its holder sees it. */
export const ApiKey = z
  .object({
    object: kind('api_key'),
    id: text('The id of the key.'),
    name: text('The name that the operator gave it.'),
    status: z
      .enum(['active'])
      .describe('A key that is suspended, expired or revoked is told so by the refusal of this call.'),
    scopes: z.array(z.enum(SCOPES)).describe('The endpoints that the key may call.'),
    balance: amount('Credits that new requests may hold.'),
    held: amount('Credits held by requests under way.'),
    spent: amount('Credits charged so far.'),
    key: secret.describe('The secret that asks.'),
    limits: limits.describe('The limits of the key, and how much of them is left.'),
    models: texts('Ids and patterns of the models that the key may use; empty means every model.'),
    allowlist: texts('CIDR ranges from which the key works; empty means every address.'),
    created_at: size('The Unix time at which the key was made, in seconds.'),
  })
  .describe('The calling key.')
