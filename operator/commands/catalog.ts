import type { Command } from 'commander'
import { apiKeyOf, type CatalogData } from '../../layers/gateway/domain/catalog.ts'
import { readStoredCatalog, type StoredCatalog } from '../../layers/gateway/store/catalog/read-stored-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { CliError } from '../cli-error.ts'
import { compareCatalogs } from '../compare-catalogs.ts'
import { printJson, printTable } from '../output.ts'
import { priceWarnings } from '../price-warnings.ts'
import { readCatalogFile } from '../read-catalog-file.ts'
import type { Run } from '../run.ts'

/** Stands for the echo upstream of whichever machine the file is for. */
const ANY_ECHO = 'http://127.0.0.1/v1'

export function catalogCommand(program: Command, run: Run, out: Console): void {
  const catalog = program.command('catalog').description('which models there are, and at what price')

  catalog
    .command('check <file>')
    .description('look a catalog file over; changes nothing')
    .action(async (file: string, _: object, command: Command) => {
      const checked = await readCatalogFile(file, ANY_ECHO)
      const warnings = priceWarnings(checked)
      warn(out, warnings)
      if (command.optsWithGlobals().json) printJson(out, { ok: true, models: checked.models.length, warnings })
      else out.log(`The catalog is valid: ${sizeOf(checked)}.`)
    })

  catalog
    .command('push <file>')
    .description('put a catalog file in force, within 30 seconds everywhere, if no other was pushed since it was read')
    .action(
      run(async ({ tables, json, nowMs, echoUrl, confirm }, _: object, file: string) => {
        const checked = await readCatalogFile(file, echoUrl)
        if (echoUrl === undefined) refuseVariables(checked)
        const stored = await readStoredCatalog(tables)()
        const changes = compareCatalogs(stored?.data, checked)
        const warnings = priceWarnings(checked)
        showPush(out, stored, changes)
        warn(out, warnings)
        const shown = stored?.version ?? 0
        await confirm(() => `put version ${shown + 1} of the catalog in force`)
        const { written, version } = await writeCatalog(tables)(checked, nowMs, shown)
        if (!written) throw wasPushed(version)
        if (json) printJson(out, { version, models: checked.models.length, changes, warnings })
        else out.log(`Version ${version} of the catalog is in force: ${sizeOf(checked)}.`)
      }),
    )

  catalog
    .command('show')
    .description('the catalog in force')
    .action(
      run(async ({ tables, json }) => {
        const stored = await readStoredCatalog(tables)()
        if (!stored) throw new CliError("There is no catalog yet. Put one in force with 'waybill catalog push FILE'.")
        const { data, version, pushedAt } = stored
        if (json) return printJson(out, { version, pushedAt, ...data })
        out.log(`Version ${version}, pushed ${pushedAt}\n`)
        printTable(
          out,
          ['model', 'active', 'input', 'output', 'cached', 'context', 'routes'],
          data.models.map(({ id, active, price, contextLength, routes }) => [
            id,
            active ? 'yes' : 'no',
            price.input,
            price.output,
            price.cachedInput,
            contextLength,
            routes.map((route) => `${route.provider}/${route.model}`).join(', '),
          ]),
        )
      }),
    )
}

/** A function in AWS has no variables of the operator's. */
function refuseVariables({ providers }: CatalogData): void {
  for (const [id, entry] of Object.entries(providers)) {
    const apiKey = apiKeyOf(entry)
    if (!apiKey?.startsWith('env:')) continue
    throw new CliError(
      `The key of provider '${id}' is ${apiKey}, but a stage has its keys in Secrets Manager: secret:NAME.`,
    )
  }
}

function sizeOf({ models, providers }: CatalogData): string {
  return `${models.length} models, ${Object.keys(providers).length} providers`
}

/** Beside the output, so that with --json that is still one value. */
function showPush(out: Console, stored: StoredCatalog | undefined, changes: readonly string[]): void {
  const inForce = stored
    ? `Version ${stored.version}, pushed ${stored.pushedAt}, is in force`
    : 'No catalog is in force'
  const lines = changes.length > 0 ? [`${inForce}. This changes:`, ...changes] : [`${inForce}. This changes nothing.`]
  out.error(lines.join('\n  '))
}

function warn(out: Console, warnings: readonly string[]): void {
  for (const warning of warnings) out.error(`warning: ${warning}`)
}

function wasPushed(version: number): CliError {
  return new CliError(
    `Somebody pushed version ${version} of the catalog meanwhile, so this one was not put in force. Look at it with 'waybill catalog show', and push again.`,
  )
}
