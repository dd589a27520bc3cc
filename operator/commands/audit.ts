import type { Command } from 'commander'
import type { Audit } from '../audit/audit-key.ts'
import { auditKeys } from '../audit/audit-keys.ts'
import { findingText } from '../audit/finding-text.ts'
import type { Finding } from '../audit/findings.ts'
import { printJson, printTable } from '../output.ts'
import type { Run } from '../run.ts'

export function auditCommand(program: Command, run: Run): void {
  program
    .command('audit')
    .description(
      'add every key up, and name the requests and grants that do not fit; exits with 1 if anything is wrong',
    )
    .option('--key <id>', 'this key only')
    .action(
      run(async ({ tables, out, json, nowMs, fail }, { key: keyId }: { key?: string }) => {
        const audits = await Array.fromAsync(auditKeys(tables, keyId, () => nowMs))
        if (json) printJson(out, audits)
        else show(out, audits)
        if (audits.some(({ ok }) => !ok)) fail()
      }),
    )
}

function show(out: Console, audits: readonly Audit[]): void {
  printTable(
    out,
    ['key', 'name', 'granted', 'available', 'held', 'spent', 'rows', 'row costs', 'result'],
    audits.map((audit) => [
      audit.id,
      audit.name,
      audit.granted,
      audit.available,
      audit.held,
      audit.spent,
      audit.rows,
      audit.rowCosts,
      verdict(audit),
    ]),
  )
  for (const audit of audits) showFindings(out, audit)
  const wrong = audits.filter(({ ok }) => !ok).length
  out.log(
    wrong === 0
      ? `\n${audits.length} ${audits.length === 1 ? 'key' : 'keys'}, all clean.`
      : `\n${wrong} of ${audits.length} keys do not add up.`,
  )
}

function showFindings(out: Console, { id, name, findings, moreFindings }: Audit): void {
  if (findings.length === 0) return
  out.log(`\n${id} (${name})`)
  for (const finding of findings) out.log(`  ${toLine(finding)}`)
  if (moreFindings > 0) out.log(`  … and ${moreFindings} more findings`)
}

function toLine(finding: Finding): string {
  const { about, text } = findingText(finding)
  return `${finding.note ? 'note: ' : ''}${about}: ${text}`
}

function verdict({ balances, explained, ok }: Audit): string {
  if (!balances) return 'granted is not available + held + spent'
  if (!explained) return 'spent is not the sum of the rows'
  return ok ? 'ok' : 'see below'
}
