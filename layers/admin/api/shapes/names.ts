import type { UsageFieldName } from '../../../gateway/domain/rows/usage-row.ts'

// Lists of values that queries and answers share.

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
