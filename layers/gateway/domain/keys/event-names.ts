/** The API's names of changes, by the names that events are stored with. */
export const EVENT_NAMES = {
  'key.create': 'key.created',
  'key.update': 'key.updated',
  'key.rotate': 'key.rotated',
  'key.end_grace': 'key.grace_ended',
  'key.plan': 'key.plan_changed',
  'key.suspend': 'key.suspended',
  'key.resume': 'key.resumed',
  'key.revoke': 'key.revoked',
  'key.grant': 'key.granted',
  'key.adopt': 'key.adopted',
  'account.create': 'account.created',
  'account.update': 'account.updated',
  'account.suspend': 'account.suspended',
  'account.resume': 'account.resumed',
  'account.close': 'account.closed',
  'account.grant': 'account.granted',
  'admin_key.create': 'admin_key.created',
  'admin_key.rotate': 'admin_key.rotated',
  'admin_key.revoke': 'admin_key.revoked',
  'catalog.push': 'catalog.pushed',
  'catalog.rollback': 'catalog.rolled_back',
  'catalog.plan': 'catalog.plan_changed',
} as const

export type EventKind = keyof typeof EVENT_NAMES
