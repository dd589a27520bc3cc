import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { AuditLine, AuditShape, AuditSummary } from '../../layers/admin/api/shapes/books.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { printTable, summed, wide } from '../../layers/terminal/table.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import { option } from './arguments.ts'
import type { Session } from './open-session.ts'
import type { CommandRow } from './run.ts'

export const AUDIT: CommandRow = {
  words: 'add every key up, and name the requests and grants that do not fit; exits with 1 if anything is wrong',
  options: [option('--key <key>', 'this key only')],
  async work(session: Session, { key }: { readonly key?: string }) {
    const { out, json, fail } = session
    const data = await audited(session, key)
    const audits: List<AuditShape> = { object: 'list', data, has_more: false, last_id: null }
    if (json) printJson(out, audits)
    else show(out, data)
    if (data.some(({ ok }) => !ok)) fail()
  },
}

async function audited({ admin, progress }: Session, key_id: string | undefined): Promise<AuditShape[]> {
  const audits: AuditShape[] = []
  for (let after: string | null | undefined; after !== null; ) {
    let end: AuditSummary | undefined
    for await (const line of admin.lines<AuditLine>('/audits', { key_id, after })) {
      if (line.object === 'audit.summary') end = line
      else if (line.object === 'audit') audits.push(line)
    }
    if (!end) throw new CliError('The audit broke off before its end, so nothing is proven. Try again.')
    progress.say(`audit: ${end.keys} keys`)
    after = end.last_id
  }
  return audits
}

function show(out: Screen, audits: readonly AuditShape[]): void {
  printTable(out, audits, {
    key: wide((audit) => audit.key_id),
    name: (audit) => audit.name,
    granted: summed((audit) => audit.granted),
    available: summed((audit) => audit.available),
    held: summed((audit) => audit.held),
    spent: summed((audit) => audit.spent),
    rows: summed((audit) => audit.rows),
    'row costs': wide((audit) => audit.row_costs),
    result: { of: verdict, style: ({ ok }) => (ok ? 'good' : 'bad') },
  })
  for (const audit of audits) showFindings(out, audit)
  const wrong = audits.filter(({ ok }) => !ok).length
  out.log(
    wrong === 0
      ? `\n${audits.length} ${audits.length === 1 ? 'key' : 'keys'}, all clean.`
      : `\n${wrong} of ${audits.length} keys do not add up.`,
  )
}

function showFindings(out: Screen, { key_id, name, findings, more_findings }: AuditShape): void {
  if (findings.length === 0) return
  out.log(`\n${key_id} (${name})`)
  for (const { about, text, note } of findings) out.log(`  ${note ? 'note: ' : ''}${about}: ${text}`)
  if (more_findings > 0) out.log(`  … and ${more_findings} more findings`)
}

function verdict({ balances, explained, ok }: AuditShape): string {
  if (!balances) return 'granted is not available + held + spent'
  if (!explained) return 'spent is not the sum of the rows'
  return ok ? 'ok' : 'see below'
}
