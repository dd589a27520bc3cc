import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { AccountAuditShape, AuditLine, AuditShape, AuditSummary } from '../../layers/admin/api/shapes/books.ts'
import { CliError, printJson, printTable, summed, sums, wide } from '../../layers/terminal/output.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import { option } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'

type Options = { readonly key?: string; readonly account?: string }
type Audited = AuditShape | AccountAuditShape

export const AUDIT: CommandRow = {
  words: 'add every key and account up, and name what does not fit; exits with 1 if anything is wrong',
  options: [
    option('--key <key>', 'this key only'),
    option('--account <account>', 'this account only').conflicts('key'),
  ],
  async work(session: Session, asked: Options) {
    const { out, json, fail } = session
    const data = await audited(session, asked)
    if (json) printJson(out, { object: 'list', data, has_more: false, last_id: null } satisfies List<Audited>)
    else show(out, data)
    if (data.some(({ ok }) => !ok)) fail()
  },
}

async function audited({ admin, progress }: Session, { key: key_id, account }: Options): Promise<Audited[]> {
  const audits: Audited[] = []
  for (let after: string | null | undefined; after !== null; ) {
    let end: AuditSummary | undefined
    for await (const line of admin.lines<AuditLine>('/audits', { key_id, account, after })) {
      if (line.object === 'audit.summary') end = line
      else audits.push(line)
    }
    if (!end) throw new CliError('The audit broke off before its end, so nothing is proven. Try again.')
    progress.say(`audit: ${end.keys} keys, ${end.accounts} accounts`)
    after = end.last_id
  }
  return audits
}

function show(out: Screen, audits: readonly Audited[]): void {
  const keys = audits.filter((audit) => audit.object === 'audit')
  const accounts = audits.filter((audit) => audit.object === 'account.audit')
  const amounts = sums('granted', 'available', 'held', 'spent')
  const result = { of: verdict, style: ({ ok }: Audited) => (ok ? 'good' : 'bad') } as const
  if (keys.length > 0 || accounts.length === 0) {
    printTable(out, keys, {
      key: wide((audit) => audit.key_id),
      name: (audit) => audit.name,
      ...amounts,
      ...sums('rows'),
      'row costs': wide((audit) => audit.row_costs),
      result,
      findings: wide(findingCount),
    })
  }
  if (accounts.length > 0) {
    printTable(out, accounts, {
      account: wide((audit) => audit.account_id),
      name: (audit) => audit.name,
      ...amounts,
      'in pool': summed((audit) => audit.in_pool),
      'under way': summed((audit) => audit.in_flight),
      result,
      findings: wide(findingCount),
    })
  }
  for (const audit of audits) showFindings(out, audit)
  const wrong = audits.filter(({ ok }) => !ok).length
  const all = `${countText(keys.length, 'key')}${accounts.length > 0 ? ` and ${countText(accounts.length, 'account')}` : ''}`
  out.log(wrong === 0 ? `\n${all}, all clean.` : `\n${wrong} of ${all} do not add up.`)
}

const findingCount = ({ findings, more_findings: more }: Audited) => findings.length + more

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function showFindings(out: Screen, audit: Audited): void {
  const { name, findings, more_findings } = audit
  if (findings.length === 0) return
  out.log(`\n${'key_id' in audit ? audit.key_id : audit.account_id} (${name})`)
  for (const { about, text, note } of findings) out.log(`  ${note ? 'note: ' : ''}${about}: ${text}`)
  if (more_findings > 0) out.log(`  … and ${more_findings} more findings`)
}

function verdict(audit: Audited): string {
  const isOfKey = audit.object === 'audit'
  if (isOfKey && !audit.balances) return 'granted is not available + held + spent'
  if (isOfKey && !audit.explained) return 'spent is not the sum of the rows'
  return audit.ok ? 'ok' : 'see below'
}
