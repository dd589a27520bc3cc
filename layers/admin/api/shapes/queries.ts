import { z } from 'zod'
import { MOST_REFERENCE_CHARS } from '../../../gateway/domain/keys/reference.ts'
import { OUTCOMES, type UsageFieldName } from '../../../gateway/domain/rows/usage-row.ts'
import { ENDPOINT_NAMES } from '../../../gateway/endpoints.ts'
import { credits, line, moment, oneOf, textLike, wholeNumber } from '../../settings/rules.ts'
import { SETTING_FIELDS } from '../../settings/setting-fields.ts'

// Queries of requests, and lists of values that they share with answers. The function loads this file, and not those of answers.

export const KEY_STATUSES = ['active', 'suspended', 'expired', 'revoked'] as const

export const USAGE_BUCKETS = ['1h', '1d'] as const

export const USAGE_GROUPS = ['model', 'key', 'provider', 'day'] as const

/** The API's names of changes, by the names that events are stored with. */
export const EVENT_NAMES = {
  'key.create': 'key.created',
  'key.update': 'key.updated',
  'key.rotate': 'key.rotated',
  'key.end_grace': 'key.grace_ended',
  'key.suspend': 'key.suspended',
  'key.resume': 'key.resumed',
  'key.revoke': 'key.revoked',
  'key.grant': 'key.granted',
  'admin_key.create': 'admin_key.created',
  'admin_key.rotate': 'admin_key.rotated',
  'admin_key.revoke': 'admin_key.revoked',
  'catalog.push': 'catalog.pushed',
  'catalog.rollback': 'catalog.rolled_back',
} as const

/** The fields of a row in a list. */
export const LINE_FIELDS: readonly UsageFieldName[] = [
  'requestId',
  'keyId',
  'startedAtMs',
  'endpoint',
  'model',
  'provider',
  'stream',
  'httpStatus',
  'outcome',
  'errorCode',
  'replayOf',
  'promptTokens',
  'completionTokens',
  'ttftMs',
  'cost',
  'durationMs',
]

function numberIn(least: number, most: number) {
  return z.preprocess((value) => (/^\d+$/.test(String(value)) ? Number(value) : value), wholeNumber(least, most))
}

const page = {
  after: z.string().describe('The last_id of the page before.').optional(),
  limit: numberIn(1, 100).default(50).describe('The most rows of a page; 50 unless given.'),
}
const range = {
  from: moment.describe('From this UTC day or moment on.').optional(),
  to: moment.describe('To this UTC day or moment, which is not included.').optional(),
}
/** Case, the width of spaces and the forms of letters make no difference. */
const reference = line(1, MOST_REFERENCE_CHARS)
const milliseconds = numberIn(0, 1e9)
const keyId = textLike(/^key_\w{1,40}$/, 'the id of a key')
const anyKeyId = textLike(/^(admin)?key_\w{1,40}$/, 'the id of a key or of an admin key')
/** One kind, or all changes of keys, admin keys or the catalog. */
const EVENT_FILTERS = [...Object.values(EVENT_NAMES), 'key', 'admin_key', 'catalog']

export const searchQuery = z.strictObject({
  q: textLike(/^.{1,200}$/, '1 to 200 characters').describe(
    'A request id, key id, external id, the last four of a secret, the reference of a grant, or a part of a name.',
  ),
})

export const keysQuery = z.strictObject({
  external_id: SETTING_FIELDS.external_id.unwrap().describe('Only the key with this id of yours.').optional(),
  reference: reference.describe('Only keys that were granted credits under this reference.').optional(),
  status: oneOf(KEY_STATUSES).describe('Only keys with this status.').optional(),
  ...page,
})

export const pageQuery = z.strictObject(page)

export const grantsQuery = z.strictObject({
  reference: reference.describe('Only grants under this reference.').optional(),
  ...page,
})

export const keyEventsQuery = z.strictObject({
  what: oneOf(EVENT_FILTERS).describe('A kind, or all kinds of key, admin_key or catalog.').optional(),
  by: textLike(/^.{1,2048}$/, 'who changed it, as events name them')
    .describe('Only changes by this caller.')
    .optional(),
  ...range,
  ...page,
})

export const eventsQuery = keyEventsQuery.extend({
  key_id: anyKeyId.describe('Only changes of this key or admin key.').optional(),
})

export const requestsQuery = z.strictObject({
  key_id: keyId.describe('Only requests of this key.').optional(),
  ...range,
  from: range.from
    .unwrap()
    .describe('From this UTC day or moment on. Unless given, 24 hours ago, or with key_id the beginning of the key.')
    .optional(),
  outcome: oneOf(OUTCOMES).describe('Only requests with this outcome.').optional(),
  model: textLike(/^.{1,200}$/, 'the name of a model')
    .describe('Only requests for this model.')
    .optional(),
  provider: textLike(/^.{1,200}$/, 'the name of a provider')
    .describe('Only requests that this provider was the last to be asked for.')
    .optional(),
  error_code: textLike(/^.{1,200}$/, 'the code of an error')
    .describe('Only requests that ended with this error.')
    .optional(),
  user: textLike(/^.{1,256}$/s, 'a user of 1 to 256 characters')
    .describe('Only requests whose caller named this user.')
    .optional(),
  tag: textLike(/^.{1,129}$/s, 'a tag such as team, or with its value team=search')
    .describe('Only requests with this tag: its name, or `name=value`.')
    .optional(),
  endpoint: oneOf(ENDPOINT_NAMES).describe('Only requests to this endpoint.').optional(),
  for_model: oneOf(['true', 'false'])
    .describe('Only requests that a model was to answer, or only all others.')
    .optional(),
  status: textLike(/^([1-5]xx|[1-5]\d\d|0|error)$/, 'a status such as 429, a class such as 4xx, or error')
    .describe('Only requests with this HTTP status or class of them; `error` for all that were not completed.')
    .optional(),
  stream: oneOf(['true', 'false'])
    .describe('Only requests that were streamed, or only those that were not.')
    .optional(),
  cost_from: credits.describe('Only requests that were charged at least this much.').optional(),
  cost_to: credits.describe('Only requests that were charged at most this much.').optional(),
  duration_from: milliseconds.describe('Only requests that took at least so many milliseconds.').optional(),
  duration_to: milliseconds.describe('Only requests that took at most so many milliseconds.').optional(),
  ...page,
})

export const usageQuery = z.strictObject({
  bucket: oneOf(USAGE_BUCKETS).default('1d').describe('The length of a bucket: a UTC day unless given, or an hour.'),
  group_by: oneOf(USAGE_GROUPS).default('model').describe('The grouping.'),
  ...range,
  key_id: keyId.describe('Only usage of this key.').optional(),
})

export const overviewQuery = z.strictObject({
  from: range.from.unwrap().describe('The begin of the range; 24 hours before its end unless given.').optional(),
  to: range.to.unwrap().describe('The end of the range, which is not included; now unless given.').optional(),
})

export const catalogQuery = z.strictObject({
  at: moment.describe('The version that was in force at this UTC day or moment.').optional(),
})

export const versionQuery = z.strictObject({
  against: numberIn(0, 1e15 - 1)
    .describe('The version to compare with, in place of the one before; 0 for none.')
    .optional(),
})
