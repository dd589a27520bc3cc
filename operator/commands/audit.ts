import type { Command } from 'commander'
import { listKeys } from '../../layers/gateway/store/list-keys.ts'
import { readKey } from '../../layers/gateway/store/read-key.ts'
import { type Audit, auditKey } from '../audit-key.ts'
import { printJson, printTable } from '../output.ts'
import { Problem } from '../problem.ts'
import type { Run } from '../run.ts'

export function auditCommand(program: Command, run: Run): void {
  program
    .command('audit')
    .description('add every key up; exits with 1 if a credit is missing or one too many')
    .option('--key <id>', 'this key only')
    .action(
      run(async ({ tables, json, nowMs }, { key: keyId }: { key?: string }) => {
        const audits: Audit[] = []
        if (keyId === undefined) {
          for await (const key of listKeys(tables)()) audits.push(await auditKey(tables, key, nowMs))
        } else {
          const key = await readKey(tables)(keyId)
          if (!key) throw new Problem(`There is no key '${keyId}'.`)
          audits.push(await auditKey(tables, key, nowMs))
        }
        if (json) printJson(audits.map((audit) => ({ ...audit, ok: isClean(audit) })))
        else show(audits)
        if (!audits.every(isClean)) process.exitCode = 1
      }),
    )
}

function show(audits: readonly Audit[]): void {
  printTable(
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
  const wrong = audits.filter((audit) => !isClean(audit)).length
  console.log(
    wrong === 0 ? `\n${audits.length} keys, all clean.` : `\n${wrong} of ${audits.length} keys do not add up.`,
  )
}

function isClean({ balances, explained }: Audit): boolean {
  return balances && explained
}

function verdict({ balances, explained }: Audit): string {
  if (!balances) return 'granted is not available + held + spent'
  return explained ? 'ok' : 'spent is not the sum of the rows'
}
