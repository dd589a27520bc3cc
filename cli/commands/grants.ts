import type { Command } from 'commander'
import type { GrantMade, GrantShape } from '../../layers/admin/api/shapes/keys.ts'
import { REFERENCE_DAYS } from '../../layers/gateway/domain/keys/reference.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { printTable, summed, wide } from '../../layers/terminal/table.ts'
import { grantedCredits, reference } from './arguments.ts'
import { confirmFor, existing, pathOf, showChange } from './one-key.ts'
import type { Run, Session } from './run.ts'
import { grantChanges } from './show-change.ts'
import { shortTime } from './time-range.ts'

export function grantCommands(keys: Command, run: Run): void {
  keys
    .command('grant <key>')
    .description('add credits, or correct a grant: -5 takes 5 back, if they are available')
    .argument('<credits>', 'how many', (text) => formatCredits(grantedCredits(text)))
    .option('--reference <text>', 'the payment behind them, such as an invoice', reference)
    .option('--again', `grant under a reference that the key was granted credits under within ${REFERENCE_DAYS} days`)
    .action(run(grantAction))

  keys
    .command('grants <key>')
    .description('the grants to a key, newest first')
    .option('--reference <text>', 'only those under this reference', reference)
    .action(run(grantsAction))
}

type GrantOptions = { readonly reference?: string; readonly again?: boolean }

async function grantAction(
  session: Session,
  { reference, again }: GrantOptions,
  id: string,
  credits: string,
): Promise<void> {
  const { admin } = session
  await confirmFor(session, id, (key) => `grant ${credits} credits to ${key}`)
  const made = await existing(id, admin.once<GrantMade>(`${pathOf(id)}/grants`, { credits, reference, again }))
  showChange(session, made.key, grantChanges(made), made)
}

async function grantsAction({ admin, out, json }: Session, query: GrantOptions, id: string): Promise<void> {
  const grants = await existing(id, admin.list<GrantShape>(`${pathOf(id)}/grants`, { reference: query.reference }))
  if (json) return printJson(out, grants)
  printTable(out, grants.data, {
    at: { of: (grant) => grant.granted_at, short: (grant) => shortTime(grant.granted_at) },
    credits: summed((grant) => grant.credits),
    reference: (grant) => grant.reference,
    by: { of: (grant) => grant.by, isSpare: true },
    id: wide((grant) => grant.id),
  })
}
