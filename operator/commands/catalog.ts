import type { Command } from 'commander'
import { parseCatalog } from '../../catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import type { CatalogVersion } from '../../layers/gateway/store/catalog/catalog-version.ts'
import { listCatalogVersions, versionAt } from '../../layers/gateway/store/catalog/list-catalog-versions.ts'
import { readCatalogVersion } from '../../layers/gateway/store/catalog/read-catalog-version.ts'
import { readStoredCatalog, type StoredCatalog } from '../../layers/gateway/store/catalog/read-stored-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../layers/gateway/store/tables.ts'
import { moment, wholeNumber } from '../arguments.ts'
import { catalogRefusal } from '../catalog-refusal.ts'
import { CliError } from '../cli-error.ts'
import { compareCatalogs } from '../compare-catalogs.ts'
import { otherPush } from '../other-push.ts'
import { printJson, printTable } from '../output.ts'
import { priceWarnings } from '../price-warnings.ts'
import { readCatalogFile } from '../read-catalog-file.ts'
import type { Run, Session } from '../run.ts'

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
      run(async (session, _: object, file: string) => {
        await putInForce(session, await readCatalogFile(file, session.echoUrl))
      }),
    )

  catalog
    .command('show')
    .description('the catalog in force, or another version')
    .option('--version <n>', 'this version', versionNumber)
    .option('--at <moment>', 'the version that was in force then: a UTC day or an ISO instant', moment)
    .action(run(showAction))

  catalog.command('versions').description('every version, who pushed it and when').action(run(versionsAction))

  catalog
    .command('diff [from] [to]')
    .description('what a version changes, in words: the one in force and the one before, unless given')
    .action(run(diffAction))

  catalog
    .command('rollback <version>')
    .description('put the content of an earlier version in force, as a new version')
    .action(
      run(async (session, _: object, text: string) => {
        const { version, data } = await knownVersion(session.tables, checkedVersion(text))
        if (version === (await versionInForce(session.tables)).version) {
          throw new CliError(`Version ${version} of the catalog is in force.`)
        }
        const parsed = parseCatalog(data)
        if ('faults' in parsed) throw new CliError(`Version ${version} is not valid any more: ${parsed.faults[0]}`)
        await putInForce(session, parsed.catalog, version)
      }),
    )
}

/** After every check, and only over the version that these changes were shown for. */
async function putInForce(session: Session, catalog: CatalogData, rollbackTo?: number): Promise<void> {
  const { tables, out, json, echoUrl, confirm } = session
  const refusal = catalogRefusal(catalog, { isLocal: echoUrl !== undefined })
  if (refusal) throw new CliError(refusal)
  const stored = await readStoredCatalog(tables)()
  const changes = compareCatalogs(stored?.data, catalog)
  const warnings = priceWarnings(catalog)
  showPush(out, stored, changes)
  warn(out, warnings)
  const shown = stored?.version ?? 0
  const content = rollbackTo === undefined ? '' : `, with the content of version ${rollbackTo},`
  await confirm(() => `put version ${shown + 1} of the catalog${content} in force`)
  const { written, version } = await writeCatalog(tables)(catalog, await session.newAct(), { shown, rollbackTo })
  if (!written) throw await wasPushed(tables, stored)
  if (json) printJson(out, { version, models: catalog.models.length, changes, warnings })
  else out.log(`Version ${version} of the catalog is in force: ${sizeOf(catalog)}.`)
}

async function showAction(
  { tables, out, json }: Session,
  { version: wanted, at }: { version?: number; at?: number },
): Promise<void> {
  if (wanted !== undefined && at !== undefined) throw new CliError('Choose one of --version and --at.')
  const { data, version, pushedAt, pushedBy } = await chosenVersion(tables, wanted, at)
  if (json) return printJson(out, { version, pushedAt, pushedBy, ...data })
  out.log(`Version ${version}, pushed ${pushedAt}${pushedBy === undefined ? '' : ` by ${pushedBy}`}\n`)
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
}

async function chosenVersion(tables: Tables, wanted?: number, at?: number): Promise<CatalogVersion> {
  if (wanted !== undefined) return knownVersion(tables, wanted)
  if (at === undefined) return versionInForce(tables)
  const note = await versionAt(listCatalogVersions(tables)(), at)
  if (note) return knownVersion(tables, note.version)
  throw new CliError(`No version of the catalog is known that was in force at ${new Date(at).toISOString()}.`)
}

async function versionsAction({ tables, out, json }: Session): Promise<void> {
  const versions = await Array.fromAsync(listCatalogVersions(tables)())
  if (json) return printJson(out, versions)
  printTable(
    out,
    ['version', 'pushed', 'by'],
    versions.map(({ version, pushedAt, pushedBy }) => [version, pushedAt, pushedBy]),
  )
}

async function diffAction({ tables, out, json }: Session, _: object, from?: string, to?: string): Promise<void> {
  const after = to === undefined ? await versionInForce(tables) : await knownVersion(tables, checkedVersion(to))
  const earlier = from === undefined ? after.version - 1 : checkedVersion(from)
  const before = earlier === 0 ? undefined : await knownVersion(tables, earlier)
  const changes = compareCatalogs(before?.data, after.data)
  if (json) return printJson(out, { from: earlier, to: after.version, changes })
  const heading = `From version ${earlier} to version ${after.version}`
  out.log(changes.length > 0 ? [`${heading}:`, ...changes].join('\n  ') : `${heading} nothing changed.`)
}

async function versionInForce(tables: Tables): Promise<CatalogVersion> {
  const stored = await readStoredCatalog(tables)()
  if (stored) return stored
  throw new CliError("There is no catalog yet. Put one in force with 'waybill catalog push FILE'.")
}

async function knownVersion(tables: Tables, version: number): Promise<CatalogVersion> {
  const known = await readCatalogVersion(tables)(version)
  if (known) return known
  throw new CliError(
    `There is no version ${version} of the catalog. 'waybill catalog versions' shows those that are kept.`,
  )
}

const versionNumber = wholeNumber(1, 1_000_000_000)

function checkedVersion(text: string): number {
  try {
    return versionNumber(text)
  } catch (error) {
    throw new CliError(`'${text}' is not a version of the catalog. ${(error as Error).message}`)
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

/** Who came first, and with what. */
async function wasPushed(tables: Tables, shown: StoredCatalog | undefined): Promise<CliError> {
  return new CliError(`${await otherPush(tables, shown)}Look at it with 'waybill catalog show', and push again.`)
}
