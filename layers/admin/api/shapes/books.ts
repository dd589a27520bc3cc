import { z } from 'zod'
import { EVENT_NAMES } from '../../../gateway/domain/keys/event-names.ts'
import { BALANCE } from './accounts.ts'
import { count, credits, flag, kind, moment, orNull, type Shape, text } from './parts.ts'

const Fields = z.record(z.string(), z.unknown())

export const Event = z.object({
  object: kind('event'),
  id: text('The id of the change.'),
  at: moment('The moment of the change.'),
  by: text('Who made it.'),
  what: z.enum(Object.values(EVENT_NAMES)).describe('The kind of the change.'),
  key_id: orNull(text('The key, the account or the admin key; null for a change of the catalog.')),
  key_name: orNull(text('Its name, as it is now; null if it is gone, and for a change of the catalog.')),
  before: Fields.nullable().describe('The fields that changed, as they were; null if there were none.'),
  after: Fields.nullable().describe('The fields that changed, as they are; null if there are none.'),
})
export type EventShape = Shape<typeof Event>

const Finding = z.object({
  about: text('The row, grant, hold or total that it is about.'),
  text: text('The finding.'),
  note: flag('Worth knowing, but nothing is wrong.'),
})

const VERDICT = {
  ok: flag('Nothing at all is wrong.'),
  findings: z.array(Finding).describe('The findings.'),
  more_findings: count('Findings beyond those that are listed.'),
}

export const Audit = z.object({
  object: kind('audit'),
  key_id: text('The key that was audited.'),
  name: text('The name of the key.'),
  granted: credits('All that was granted.'),
  available: credits('The balance.'),
  held: credits('Held for open requests.'),
  spent: credits('All that was charged.'),
  rows: count('Usage rows of the key.'),
  row_costs: credits('The sum of the costs of its rows.'),
  expired_rows: count('Of the rows, those that have expired and are known from the totals of their days.'),
  balances: flag('Granted is available + held + spent, and nothing is below zero.'),
  explained: flag('Spent is the sum of the costs of the rows.'),
  ...VERDICT,
})
export type AuditShape = Shape<typeof Audit>

export const AccountAudit = z.object({
  object: kind('account.audit'),
  account_id: text('The account that was audited.'),
  name: text('The name of the account.'),
  ...BALANCE,
  retired: credits('Of what was spent, what keys that are gone have spent.'),
  keys: count('Keys that have credits of it, or open requests.'),
  balances: flag(
    'Granted is what lies in the pool, was given to keys and not taken back, and was spent by those that are gone.',
  ),
  ...VERDICT,
})
export type AccountAuditShape = Shape<typeof AccountAudit>

export const AuditSummary = z.object({
  object: kind('audit.summary'),
  keys: count('Keys that were audited, with those of the pages before.'),
  accounts: count('Accounts that were audited, after the keys.'),
  wrong: count('Of both, those with something wrong.'),
  at: moment('The end of this page.'),
  has_more: flag('The audit goes on after this page.'),
  last_id: orNull(text('To be sent as after for the next page.')),
})

export type AuditSummary = Shape<typeof AuditSummary>

/** A line of `POST /audits`: one for each key, then one for each account, and a last one. If that is missing, the audit broke off. */
export const AuditLine = z.union([Audit, AccountAudit, AuditSummary])
export type AuditLine = Shape<typeof AuditLine>
