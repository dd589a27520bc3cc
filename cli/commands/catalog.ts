import type { CatalogCheck, CatalogShape, CatalogVersionShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { Output } from '../../layers/gateway/domain/basics/plain-text.ts'
import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { CliError, printJson, printList, printTable, printValue, wide } from '../../layers/terminal/output.ts'
import { inWords } from '../admin-client/refusal.ts'
import { chosenTarget } from '../connect/chosen-gateway.ts'
import { moment, option, usually, wholeNumber } from './arguments.ts'
import { PRICES } from './catalog-prices.ts'
import { BY } from './one-key.ts'
import type { CommandRow, GlobalOptions, Here, Session } from './open-session.ts'
import { moments } from './time-range.ts'

/** Loaded lazily, with the catalog's validator. */
const files = () => import('./read-catalog-file.ts')

const versionNumber = wholeNumber(1, 1_000_000_000)

const NOTE = option('--note <text>', 'why, at most 200 characters; shown with the version and its event')
type Noted = { readonly note?: string }

export const CATALOG: CommandRow = {
  words: 'which models there are, and at what price',
  commands: {
    'check <file>': {
      words: 'look a catalog file over, with a gateway against the one in force; changes nothing',
      async isHere({ terminal }: Here, options: GlobalOptions) {
        const { local, stage, stack, adminUrl } = await chosenTarget(options, terminal.env)
        return !(local || stage || stack || adminUrl)
      },
      here: checkHere,
      work: checkAction,
    },
    'prices [file]': PRICES,
    'push <file>': {
      words: 'put a catalog file in force, within 30 seconds everywhere, if no other was pushed since it was read',
      options: [NOTE],
      work: pushAction,
    },
    show: {
      words: 'the catalog in force, or another version',
      options: [
        option('--version <n>', usually('this version', 'the one in force'), versionNumber),
        option('--at <moment>', 'the version in force then: a UTC day or an ISO instant', moment).conflicts('version'),
      ],
      work: showAction,
    },
    versions: { words: 'every version, who pushed it and when', work: versionsAction },
    'diff [from] [to]': {
      words: 'what a version changes, in words: the one in force and the one before, unless given',
      work: diffAction,
    },
    'rollback <version>': {
      words: 'put the content of an earlier version in force, as a new version',
      options: [NOTE],
      work: rollbackAction,
    },
  },
}

async function checkHere(place: Here, _: object, file: string): Promise<void> {
  const { ANY_ECHO, readCatalogFile } = await files()
  const { priceWarnings } = await import('../../layers/admin/catalog/price-warnings.ts')
  const checked = await readCatalogFile(file, ANY_ECHO)
  const warnings = priceWarnings(checked)
  const none = { faults: [], changes: [], below_cost: [] }
  const check = { object: 'catalog.check', valid: true, ...none, in_force: null, warnings }
  warn(place.out, warnings)
  printValue(place, check, validWords(checked))
}

async function checkAction(session: Session, _: object, file: string): Promise<void> {
  const sent = await (await files()).readCatalogJson(file)
  printValue(session, await checkedFor(session, sent, `The catalog '${file}' is not valid`), validWords(sent))
}

async function pushAction(session: Session, { note }: Noted, file: string): Promise<void> {
  const sent = await (await files()).readCatalogJson(file)
  await putInForce(
    session,
    await checkedFor(session, sent, `The catalog '${file}' is not valid`),
    '',
    (how, expected) => session.admin.change('PUT', '/catalog', { ...sent, note, ...how }, expected),
  )
}

async function rollbackAction(session: Session, { note }: Noted, text: string): Promise<void> {
  const version = checkedVersion(text)
  const { catalog } = await knownVersion(session, version)
  const check = await checkedFor(session, catalog, `Version ${version} is not valid any more`)
  await putInForce(session, check, `, with the content of version ${version},`, (how, expected) =>
    session.admin.change('POST', `/catalog/versions/${version}/restore`, { note, ...how }, expected),
  )
}

type Put = (how: { readonly below_cost?: true }, expectedVersion: number) => Promise<CatalogShape>

/** `put` is told a loss that is meant, and the version that is expected to be in force still. */
async function putInForce(session: Session, check: CatalogCheck, content: string, put: Put): Promise<void> {
  const [expected, isBelow] = [check.in_force?.version ?? 0, check.below_cost.length > 0]
  const loss = isBelow ? ', and sell below cost under a plan' : ''
  await session.confirm(() => `put version ${expected + 1} of the catalog${content} in force${loss}`, isBelow)
  const made = await inWords(put(isBelow ? { below_cost: true } : {}, expected), {
    stale_version: (told) => `${told}\nLook at it with 'waybill catalog show', and push again.`,
  })
  const same = made.version === expected ? 'as it was, for nothing changed' : 'changed in how it is written only'
  const so = made.version === expected || check.changes.length === 0 ? same : sizeOf(made.catalog)
  printValue(session, made, `Version ${made.version} of the catalog is in force: ${so}.`)
}

/** A catalog that can be put in force, after its changes and warnings were shown. */
async function checkedFor({ admin, out }: Session, sent: object, complaint: string): Promise<CatalogCheck> {
  const check = await admin.check<CatalogCheck>('/catalog/check', sent)
  if (!check.valid) {
    const [first] = check.faults
    // The catalog is valid, but this gateway cannot use it.
    if (first?.path === 'catalog') throw new CliError(first.message)
    const { invalidCatalog } = await files()
    const faults = check.faults.map(({ path, message }) => `${path}: ${message}`)
    throw invalidCatalog(complaint, faults)
  }
  showChanges(out, check)
  warn(out, check.warnings)
  return check
}

async function showAction(session: Session, { version: wanted, at }: { version?: number; at?: number }): Promise<void> {
  const { out, json } = session
  const shown = wanted === undefined ? await versionInForce(session, at) : await knownVersion(session, wanted)
  if (json) return printJson(out, shown)
  const { models } = shown.catalog as CatalogData
  out.log(
    `Version ${shown.version}, pushed ${shown.pushed_at}${shown.by === null ? '' : ` by ${shown.by}`}${shown.note === null ? '' : `: ${shown.note}`}\n`,
  )
  printTable(out, models, {
    model: ({ id }) => id,
    active: ({ active }) => (active ? 'yes' : 'no'),
    input: ({ price }) => price.input,
    output: ({ price }) => price.output,
    cached: ({ price }) => price.cachedInput,
    'all prices': wide(({ price }) => JSON.stringify(price)),
    context: ({ contextLength }) => contextLength,
    routes: ({ routes }) => routes.map((route) => `${route.provider}/${route.model}`).join(', '),
  })
}

async function versionsAction(session: Session): Promise<void> {
  printList(session, await session.admin.list<CatalogVersionShape>('/catalog/versions'), {
    version: ({ version }) => version,
    pushed: moments(({ pushed_at }) => pushed_at),
    by: BY,
    note: ({ note }) => note,
  })
}

async function diffAction(session: Session, _: object, from?: string, to?: string): Promise<void> {
  const version = to === undefined ? (await versionInForce(session)).version : checkedVersion(to)
  const earlier = from === undefined ? version - 1 : checkedVersion(from)
  const shown = await knownVersion(session, version, earlier)
  const heading = `From version ${earlier} to version ${version}`
  const lines = shown.changes.length > 0 ? [`${heading}:`, ...shown.changes] : [`${heading} nothing changed.`]
  printValue(session, shown, lines.join('\n  '))
}

function versionInForce({ admin }: Session, atMs?: number): Promise<CatalogShape> {
  if (atMs !== undefined) return admin.get('/catalog', { at: isoTime(atMs) })
  return inWords(admin.get('/catalog'), {
    not_found: "There is no catalog yet. Put one in force with 'waybill catalog push FILE'.",
  })
}

function knownVersion({ admin }: Session, version: number, against?: number): Promise<CatalogShape> {
  return inWords(admin.get(`/catalog/versions/${version}`, { against }), {
    // The message tells which of the two versions is missing.
    not_found: (told) => `${told.split('. ')[0]}. 'waybill catalog versions' shows those that are kept.`,
  })
}

function checkedVersion(text: string): number {
  try {
    return versionNumber(text)
  } catch (error) {
    throw new CliError(`'${text}' is not a version of the catalog. ${(error as Error).message}`)
  }
}

const validWords = (catalog: object) => `The catalog is valid: ${sizeOf(catalog)}.`

function sizeOf(catalog: object): string {
  const { models, providers } = catalog as CatalogData
  return `${models.length} models, ${Object.keys(providers).length} providers`
}

/** On standard error, so that the output with --json is still one value. */
function showChanges(out: Output, { in_force, changes }: CatalogCheck): void {
  const inForce = in_force
    ? `Version ${in_force.version}, pushed ${in_force.pushed_at}, is in force`
    : 'No catalog is in force'
  const words = changes.length > 0 ? 'This changes:' : 'This changes no provider, model or price.'
  out.error([`${inForce}. ${words}`, ...changes].join('\n  '))
}

function warn(out: Output, warnings: readonly string[]): void {
  for (const warning of warnings) out.error(`warning: ${warning}`)
}
