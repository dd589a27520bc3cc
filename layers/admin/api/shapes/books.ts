import { z } from 'zod'
import { EVENT_NAMES } from '../../../gateway/domain/keys/event-names.ts'
import { DELIVERY_STATES } from '../../../gateway/names.ts'
import { BALANCE } from './accounts.ts'
import { count, credits, flag, kind, moment, orNull, type Shape, text } from './parts.ts'

const Fields = z.record(z.string(), z.unknown())

export const Event = z.object({
  object: kind('event'),
  id: text('The id of the change.'),
  at: moment('The moment of the change.'),
  by: text('Who made it.'),
  by_name: orNull(text('The name of the admin key that made it; null for others.')),
  what: z.enum(Object.values(EVENT_NAMES)).describe('The kind of the change.'),
  key_id: orNull(text('The key, the account or the admin key; null for a change of the catalog.')),
  key_name: orNull(text('Its name, as it is now; null if it is gone, and for a change of the catalog.')),
  account_name: orNull(text('The name of the account that a key came into, as it is now; null for other changes.')),
  before: Fields.nullable().describe('The fields that changed, as they were; null if there were none.'),
  after: Fields.nullable().describe('The fields that changed, as they are; null if there are none.'),
})
export type EventShape = Shape<typeof Event>

const atMoment = { at: moment('The moment of it.') }
const entry = {
  ...atMoment,
  credits: credits('The amount.'),
  reference: orNull(text('Its reference, such as a payment.')),
}
const ofKey = { key_id: text('The id of the key.'), key_name: text('Its name, as it is now.') }

export const Statement = z.object({
  object: kind('statement'),
  month: text('The month, in UTC.'),
  first_day: text('Its first day.'),
  last_day: text('Its last day.'),
  seller: orNull(text('The seller, by the setting of the stage.')),
  currency: z
    .object({ name: text('The name of a credit.'), digits: count('The digits that are printed.') })
    .nullable()
    .describe('The setting of the stage; null for plain credits.'),
  account_id: orNull(text('The account.')),
  key_id: orNull(text('The key, if it is alone.')),
  name: text('The name of the customer, as it is now.'),
  external_id: orNull(text('Your own id of the customer.')),
  opening: credits('The balance at the beginning: all grants before, less all charges of days before.'),
  topped_up: credits('The sum of the top-ups.'),
  adopted: credits('The sum of the balances that adopted keys brought.'),
  corrected: credits('The sum of the corrections, which are below zero.'),
  charged: credits('The sum of the usage.'),
  closing: credits('The balance at the end: opening + topped_up + adopted + corrected − charged.'),
  top_ups: z.array(z.object(entry)).describe('Grants of the month, oldest first.'),
  adoptions: z
    .array(
      z.object({
        ...atMoment,
        credits: credits('All that it was granted, less its charges before the month.'),
        ...ofKey,
      }),
    )
    .describe('Keys that came into the account in the month. Their charges of this month are in the usage.'),
  corrections: z.array(z.object(entry)).describe('Grants below zero, oldest first.'),
  usage: z
    .array(
      z.object({
        ...ofKey,
        model: text('The model; - for requests without one.'),
        requests: count('Requests.'),
        prompt_tokens: count('Tokens of prompts.'),
        completion_tokens: count('Tokens of answers.'),
        charged: credits('The charge.'),
      }),
    )
    .describe('The charges by key and model.'),
})

export const Notice = z.object({
  object: kind('notice'),
  id: text('The id of the notice, however often it is told.'),
  type: text('Its type, such as key.balance_low.'),
  owner_id: text('The key or the account that it is about.'),
  owner_name: text('Its name at that time.'),
  status: z.enum(DELIVERY_STATES).describe('A failed one is tried again by the next sweep, for three days.'),
  tries: count('Sweeps that have tried to tell it.'),
  last_at: moment('The last try.'),
  by: orNull(text('What it was delivered by: webhook, bus, or bus and webhook; null until it was told.')),
  error: orNull(text('The error of the last try, which names what did not take it; null if it was told.')),
})
export type NoticeShape = Shape<typeof Notice>

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
