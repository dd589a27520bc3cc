import { z } from 'zod'
import { EVENT_NAMES } from '../../../gateway/domain/keys/event-names.ts'
import { MOST_REFERENCE_CHARS } from '../../../gateway/domain/keys/reference.ts'
import { OUTCOMES, type UsageFieldName } from '../../../gateway/domain/rows/usage-row.ts'
import { ENDPOINT_NAMES } from '../../../gateway/endpoints.ts'
import { credits, line, maybe, moment, oneOf, textLike, wholeNumber } from '../../settings/rules.ts'
import { SETTING_FIELDS } from '../../settings/setting-fields.ts'
import { GROUP_WORDS, USAGE_GROUP } from '../../usage/usage-groups.ts'

// Queries of requests, and lists of values that they share with answers. The function loads this file, and not those of answers.

export const KEY_STATUSES = ['active', 'suspended', 'expired', 'revoked'] as const
export const ACCOUNT_STATUSES = ['active', 'suspended', 'closed'] as const

export const LINE_FIELDS = [
  ...['requestId', 'keyId', 'startedAtMs', 'endpoint', 'model', 'provider', 'stream', 'httpStatus', 'outcome'],
  ...['errorCode', 'replayOf', 'promptTokens', 'completionTokens', 'ttftMs', 'cost', 'durationMs'],
] as const satisfies readonly UsageFieldName[]

function numberIn(least: number, most: number) {
  return z.preprocess((value) => (/^\d+$/.test(String(value)) ? Number(value) : value), wholeNumber(least, most))
}

const pageOf = (most: number) => ({
  after: maybe(z.string(), 'The last_id of the page before.'),
  limit: numberIn(1, most).default(50).describe('The most rows of a page; 50 unless given.'),
})
const page = pageOf(100)
const range = {
  from: maybe(moment, 'From this UTC day or moment on.'),
  to: maybe(moment, 'To this UTC day or moment, which is not included.'),
}
/** Case, the width of spaces and the forms of letters make no difference. */
const reference = line(1, MOST_REFERENCE_CHARS)
const milliseconds = numberIn(0, 1e9)
const nameOf = (what: string) => textLike(/^.{1,200}$/, `the name of a ${what}`)
const keyId = textLike(/^key_\w{1,40}$/, 'the id of a key')
const anyKeyId = textLike(/^((admin)?key|acct)_\w{1,40}$/, 'the id of a key, an account or an admin key')
export const accountId = textLike(/^acct_\w{1,40}$/, 'the id of an account')
/** One kind, or all changes of keys, accounts, admin keys or the catalog. */
const EVENT_FILTERS = [...Object.values(EVENT_NAMES), 'key', 'account', 'admin_key', 'catalog']

export const searchQuery = z.strictObject({
  q: textLike(/^.{1,200}$/, '1 to 200 characters').describe(
    'A request id, the id of a key or an account, external id, the last four of a secret, the reference of a grant, or a part of a name.',
  ),
})

export const keysQuery = z.strictObject({
  external_id: maybe(SETTING_FIELDS.external_id.unwrap(), 'Only the key with this id of yours.'),
  reference: maybe(reference, 'Only keys that were granted credits under this reference.'),
  status: maybe(oneOf(KEY_STATUSES), 'Only keys with this status.'),
  account: maybe(accountId, 'Only keys of this account, also revoked ones.'),
  ...pageOf(250),
})

export const accountsQuery = z.strictObject({
  external_id: maybe(SETTING_FIELDS.external_id.unwrap(), 'Only the account with this id of yours.'),
  name: maybe(SETTING_FIELDS.name, 'Only accounts with this name.'),
  status: maybe(oneOf(ACCOUNT_STATUSES), 'Only accounts with this status.'),
  ...page,
})

export const pageQuery = z.strictObject(page)

export const grantsQuery = z.strictObject({ reference: maybe(reference, 'Only grants under this reference.'), ...page })

export const keyEventsQuery = z.strictObject({
  what: maybe(oneOf(EVENT_FILTERS), 'A kind, or all kinds of key, account, admin_key or catalog.'),
  by: maybe(textLike(/^.{1,2048}$/, 'who changed it, as events name them'), 'Only changes by this caller.'),
  ...range,
  ...page,
})

export const eventsQuery = keyEventsQuery.extend({
  key_id: maybe(anyKeyId, 'Only changes of this key, account or admin key.'),
})

export const requestsQuery = z.strictObject({
  key_id: maybe(keyId, 'Only requests of this key.'),
  account: maybe(accountId, 'Only requests of the keys of this account.'),
  ...range,
  from: maybe(
    range.from.unwrap(),
    'From this UTC day or moment on. Unless given, 24 hours ago, or with key_id or account the beginning of the key, or of the first one.',
  ),
  outcome: maybe(oneOf(OUTCOMES), 'Only requests with this outcome.'),
  model: maybe(nameOf('model'), 'Only requests for this model.'),
  provider: maybe(nameOf('provider'), 'Only requests that this provider was the last to be asked for.'),
  error_code: maybe(textLike(/^.{1,200}$/, 'the code of an error'), 'Only requests that ended with this error.'),
  user: maybe(textLike(/^.{1,256}$/s, 'a user of 1 to 256 characters'), 'Only requests whose caller named this user.'),
  tag: maybe(
    textLike(/^.{1,129}$/s, 'a tag such as team, or with its value team=search'),
    'Only requests with this tag: its name, or `name=value`.',
  ),
  endpoint: maybe(oneOf(ENDPOINT_NAMES), 'Only requests to this endpoint.'),
  calls: maybe(oneOf(['all']), 'Also calls that ask no model. Without it only endpoint asks for them.'),
  status: maybe(
    textLike(/^([1-5]xx|[1-5]\d\d|0|error)$/, 'a status such as 429, a class such as 4xx, or error'),
    'Only requests with this HTTP status or class of them; `error` for all that were not completed.',
  ),
  stream: maybe(oneOf(['true', 'false']), 'Only requests that were streamed, or only those that were not.'),
  cost_from: maybe(credits, 'Only requests that were charged at least this much.'),
  cost_to: maybe(credits, 'Only requests that were charged at most this much.'),
  duration_from: maybe(milliseconds, 'Only requests that took at least so many milliseconds.'),
  duration_to: maybe(milliseconds, 'Only requests that took at most so many milliseconds.'),
  with_cost: maybe(oneOf(['true', 'false']), 'In an export also what requests cost you, which customers may not see.'),
  ...page,
})

export const usageQuery = z.strictObject({
  bucket: oneOf(['1h', '1d']).default('1d').describe('The length of a bucket: a UTC day unless given, or an hour.'),
  group_by: textLike(USAGE_GROUP, GROUP_WORDS).default('model').describe(`The grouping: ${GROUP_WORDS}.`),
  calls: maybe(oneOf(['all']), 'Also groups that have nothing but calls that ask no model.'),
  top: maybe(numberIn(1, 100), 'Only so many groups are told apart in buckets, the dearest; the rest are `(others)`.'),
  ...range,
  key_id: maybe(keyId, 'Only usage of this key.'),
  account: maybe(accountId, 'Only usage of the keys of this account.'),
  ...requestsQuery.pick({ outcome: true, model: true, provider: true, status: true, user: true, tag: true }).shape,
})

export const focusQuery = z.strictObject({ ...range, ...page })

export const overviewQuery = z.strictObject({
  from: maybe(range.from.unwrap(), 'The begin of the range; 24 hours before its end unless given.'),
  to: maybe(range.to.unwrap(), 'The end of the range, which is not included; now unless given.'),
})

export const catalogQuery = z.strictObject({
  at: maybe(moment, 'The version that was in force at this UTC day or moment.'),
})

export const versionQuery = z.strictObject({
  against: maybe(numberIn(0, 1e15 - 1), 'The version to compare with, in place of the one before; 0 for none.'),
})
