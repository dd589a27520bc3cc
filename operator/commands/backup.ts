import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Counts } from '../backup/write-backup.ts'
import { printJson } from '../terminal/output.ts'
import type { Run } from './run.ts'

type BackupOptions = { keysTable?: string; usageTable?: string }

export function backupCommands(program: Command, run: Run, folder: string): void {
  program
    .command('backup <file>')
    .description('write every key, grant, usage row and the catalog to a new file, which is to be kept secret')
    .option('--keys-table <name>', 'read this table in place of the stage’s, for example a restored one')
    .option('--usage-table <name>', 'read this table in place of the stage’s')
    .action(
      run(async ({ tables, out, json, nowMs }, options: BackupOptions, file: string) => {
        const { keysTable: keys = tables.keys, usageTable: usage = tables.usage } = options
        const { writeBackup } = await import('../backup/write-backup.ts')
        const counts = await writeBackup({ ...tables, keys, usage }, resolve(folder, file), nowMs)
        if (json) return printJson(out, { file, ...counts })
        out.log(
          `${file} has ${sizeOf(counts)}. Keep it as you keep secrets: it has names, addresses and hashes of keys.`,
        )
      }),
    )

  program
    .command('restore <file>')
    .description('put everything of a backup into empty tables; overwrites nothing')
    .option('--resume', 'go on with a restore that broke off: items that are there must be the same')
    .action(
      run(async ({ tables, out, json, confirm }, { resume }: { resume?: boolean }, file: string) => {
        const path = resolve(folder, file)
        const { checkBackup } = await import('../backup/read-backup.ts')
        const { refuseContent, restoreItems } = await import('../backup/restore-items.ts')
        const counts = await checkBackup(path)
        if (!resume) await refuseContent(tables)
        await confirm(() => `restore ${sizeOf(counts)} into ${tables.keys} and ${tables.usage}`)
        await restoreItems(tables, path)
        if (json) return printJson(out, counts)
        out.log(`Restored: ${sizeOf(counts)}. Now check the books with 'waybill audit'.`)
      }),
    )
}

function sizeOf({ keys, usage }: Counts): string {
  return `${keys} items of keys, grants and the catalog, and ${usage} usage rows`
}
