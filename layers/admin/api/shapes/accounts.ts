import { z } from 'zod'
import { ACCOUNT_FIELDS } from '../../settings/account-fields.ts'
import { Grant, Key } from './keys.ts'
import { count, credits, flag, kind, moment, type Shape, text, texts, WARNED } from './parts.ts'
import { ACCOUNT_STATUSES } from './queries.ts'

export type AccountStatus = (typeof ACCOUNT_STATUSES)[number]

export const BALANCE = {
  granted: credits('All that was ever granted.'),
  available: credits('The balance that requests of any of its keys can hold: in the pool, under way, or with a key.'),
  held: credits('Held for requests that are under way.'),
  spent: credits('All that requests were charged, also those of keys that are gone.'),
  in_pool: credits('Of what is available, what lies with no key.'),
  in_flight: credits('Of what is available, what is under way between the pool and a key.'),
  in_keys: credits('Of what is available, what its keys have at hand for their next requests.'),
}

export const Account = z.object({
  object: kind('account'),
  id: text('The id of the account.'),
  ...ACCOUNT_FIELDS,
  hides_balance: flag('Its keys are not told its balance.'),
  shows_statements: flag('Its keys may read its statements.'),
  status: z
    .enum(ACCOUNT_STATUSES)
    .describe('The keys of a suspended account are refused until it is resumed; a closed one is gone for good.'),
  ...BALANCE,
  key_count: count('Its keys that are not revoked.'),
  created_at: moment('The making of the account.'),
  version: count('Changes with every change of the account by an operator. It goes in If-Match, in quotes.'),
  badges: texts('What deserves a look: empty; low (at the rate of the last week it lasts less than a week).'),
})
export type AccountShape = Shape<typeof Account>
export type ToldAccountSettings = Pick<AccountShape, keyof typeof ACCOUNT_FIELDS>

const NAMED = { id: true, name: true, status: true, last_four: true, last_used_at: true } as const
const KeyOfAccount = Key.pick({ ...NAMED, available: true, held: true, spent: true })

export const AccountDetail = Account.extend({
  week_cost: credits('What its keys were charged in the last week, as the badge low counts it.'),
  keys: z.array(KeyOfAccount).describe('Its keys that are not revoked, newest first.'),
  ...WARNED,
})
export type AccountDetail = Shape<typeof AccountDetail>

const replayed = flag('It was done by an earlier request with the same Idempotency-Key.')

export const AccountMade = AccountDetail.extend({ replayed })
export type AccountMade = Shape<typeof AccountMade>

export const AccountGrantMade = Grant.extend({
  account: AccountDetail.describe('The account as it is now.'),
  replayed,
  ...WARNED,
})
export type AccountGrantMade = Shape<typeof AccountGrantMade>
