import { z } from 'zod'
import { SETTING_FIELDS } from '../../settings/setting-fields.ts'
import { count, credits, flag, kind, moment, orNull, type Shape, text, texts, WARNED } from './parts.ts'
import { KEY_STATUSES } from './queries.ts'

export type KeyStatus = (typeof KEY_STATUSES)[number]

const PreviousSecret = z.object({
  last_four: text('The last four characters of the old secret.'),
  expires_at: moment('The end of its grace period.'),
  last_used_at: orNull(moment('Its last use since the rotation; null if there was none.')),
})

export const CreditWindow = z.object({
  setting: text('The limit, by its field of the key.'),
  limit: credits('Credits that the window allows.'),
  remaining: credits('Credits of it that are neither held nor charged.'),
  reset_seconds: count('Seconds until the next window begins.'),
})

export const Key = z.object({
  object: kind('key'),
  id: text('The id of the key.'),
  account_id: orNull(text('The account whose balance it uses; null if it has its own.')),
  account_name: orNull(text('The name of that account.')),
  adopted_at: orNull(moment('When it came into it; null if it was made there.')),
  ...SETTING_FIELDS,
  status: z
    .enum(KEY_STATUSES)
    .describe('A suspended key can be resumed and an expired one extended; a revoked one is gone for good.'),
  account_suspended: flag('It is suspended, and so is its account, which must be resumed first.'),
  prefix: text('The beginning of every secret.'),
  last_four: text('The last four characters of the secret.'),
  previous: PreviousSecret.nullable().describe('The old secret of a rotated key, while it is valid.'),
  calls_today: count('Calls admitted on this UTC day, with those that ask no model: what daily_limit counts.'),
  requests_open: count('Requests under way.'),
  credit_windows: z.array(CreditWindow).describe('Its limits on the credits of a UTC day or month, now.'),
  granted: credits('All that was ever granted; of a key of an account, what its account has given to it.'),
  available: credits('The balance that requests can hold; of a key of an account, what of it lies with this key.'),
  held: credits('Held for requests that are under way.'),
  spent: credits('All that requests were charged.'),
  loss_today: credits('What its requests of this UTC day may have cost the operator beyond their charges.'),
  last_used_at: orNull(moment('The last request that was admitted; null if there was none.')),
  created_at: moment('The making of the key.'),
  version: count('Changes with every change of the key by an operator. It goes in If-Match, in quotes.'),
  badges: texts(
    'What deserves a look: empty; low (at the rate of the last week it lasts less than a week), both not for a key of an account; idle (not used for 90 days); no_allowlist.',
  ),
})
export type KeyShape = Shape<typeof Key>
export type ToldSettings = Pick<KeyShape, keyof typeof SETTING_FIELDS>

export const Window = z.object({
  limit: count('The most that the window allows.'),
  remaining: count('The most that it allows now.'),
  reset_seconds: count('Seconds until it is full again.'),
})

export const Hold = z.object({
  request_id: text('The request that the credits are held for.'),
  amount: credits('The amount held.'),
  until: moment('From then on the request cannot be running any more.'),
  expired: flag('The request is dead, and the sweep will give the credits back.'),
})
export type HoldShape = Shape<typeof Hold>

export const KeyDetail = Key.extend({
  minute: Window.describe('The limit on requests per minute, now.'),
  day: Window.describe('The limit on requests per UTC day, now.'),
  tokens: orNull(Window.describe('The limit on tokens per UTC minute, now; null if there is none.')),
  holds: z.array(Hold).describe('The open holds of the key.'),
  ...WARNED,
})
export type KeyDetail = Shape<typeof KeyDetail>

export const KeyWithSecret = KeyDetail.extend({
  secret: orNull(text('The secret, told this once; null if the caller made it, and on a retry.')),
  replayed: flag('The act was done by an earlier request with the same Idempotency-Key.'),
})
export type KeyWithSecret = Shape<typeof KeyWithSecret>

export const Grant = z.object({
  object: kind('grant'),
  id: text('The id of the grant.'),
  credits: credits('The amount granted; below 0 if it corrects an earlier grant.'),
  reference: orNull(text('The payment behind it; null if none was given.')),
  by: text('Who granted it.'),
  granted_at: moment('The moment of the grant.'),
})
export type GrantShape = Shape<typeof Grant>

export const GrantMade = Grant.extend({
  key: KeyDetail.describe('The key as it is now.'),
  replayed: flag('The grant was made by an earlier request with the same Idempotency-Key.'),
  ...WARNED,
})
export type GrantMade = Shape<typeof GrantMade>

export const AdminKey = z.object({
  object: kind('admin_key'),
  id: text('The id of the admin key.'),
  name: text('Its name.'),
  status: z.enum(['active', 'suspended', 'revoked']).describe('A revoked one is refused for good.'),
  prefix: text('The beginning of its secret.'),
  last_four: text('The last four characters of its secret.'),
  previous: PreviousSecret.omit({ last_used_at: true })
    .nullable()
    .describe('The secret before the last rotation, while it is valid; null if there is none.'),
  scopes: texts('Its holder may do this.'),
  allowlist: texts('The CIDR ranges from which it works.'),
  daily_grant: credits('The most that it grants on a UTC day.'),
  granted_today: credits('What it has granted on this UTC day.'),
  created_at: moment('When it was made.'),
  ...WARNED,
})
export type AdminKeyShape = Shape<typeof AdminKey>
