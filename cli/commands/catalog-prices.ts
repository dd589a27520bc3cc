import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { shellPath } from '../../layers/gateway/domain/basics/shell-word.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { CliError, fields, printJson, printTable } from '../../layers/terminal/output.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import type { PriceList } from '../prices/price-list.ts'
import type { Proposal } from '../prices/propose.ts'
import { option, percentage, required, upTo, usually } from './arguments.ts'
import type { CommandRow, Here, Session } from './open-session.ts'

type PricesOptions = {
  readonly from: readonly string[]
  readonly markup?: bigint
  readonly out?: string
  readonly check?: boolean
}

/** The operator's catalog as a text, whose order and form stay. */
type Ours = { readonly name: string; readonly text: string }

export const PRICES: CommandRow = {
  words:
    'compare a catalog file, or the catalog in force, with public lists of prices, and write a proposal; pushes nothing',
  options: [
    required(
      '--from <list>',
      'a list in the form of models.dev, LiteLLM or Portkey: a file or an https address; may be given more than once',
      upTo(20, 'lists'),
    ),
    option('--markup <percent>', 'make each price of its costs and so many percent', percentage(1000)),
    option('--out <proposal>', usually('write the proposal to this new file', 'NAME.proposal.json')),
    option('--check', 'write nothing, and exit with 1 if prices have drifted or a list cannot be believed'),
  ],
  isHere: (_: Here, __: object, file?: string) => file !== undefined,
  async here(place: Here, options: PricesOptions, file: string) {
    const { readCatalogText } = await import('./read-catalog-file.ts')
    const text = await readCatalogText(resolve(place.terminal.folder, file), file)
    await proposePrices({ name: file, text }, options, place)
  },
  async work(session: Session, options: PricesOptions) {
    const { catalog } = await session.admin.get<CatalogShape>('/catalog')
    await proposePrices({ name: 'catalog.json', text: `${JSON.stringify(catalog, null, 2)}\n` }, options, session)
  },
}

async function proposePrices(ours: Ours, options: PricesOptions, place: Here): Promise<void> {
  const { readExactJson } = await import('../reading/exact.ts')
  const { readSources } = await import('../reading/read-source.ts')
  const { openLists } = await import('../prices/price-list.ts')
  const { editJson } = await import('../prices/edit-json.ts')
  const { propose } = await import('../prices/propose.ts')
  const { priceWarnings } = await import('../../layers/admin/catalog/price-warnings.ts')
  const { out, json, nowMs, fail } = place
  const { folder } = place.terminal
  readExactJson(ours.text, `The catalog '${ours.name}'`, (twice) => {
    throw new CliError(`The catalog '${ours.name}' has the name '${twice}' twice in one object.`)
  })
  const catalog = await checkedCatalog(ours.text, `The catalog '${ours.name}' is not valid`)
  const lists = openLists(await readSources(options.from, { folder, nowMs, mostBytes: 32 * 1024 * 1024 }))
  const { edits, ...proposal } = propose(catalog, lists, options.markup)
  if (proposal.missing.length === catalog.models.flatMap(({ routes }) => routes).length) {
    const portkey = lists.some(({ label }) => label.startsWith('Portkey'))
    const hint = portkey ? ' A list of Portkey is of one provider and has its name, such as openai.json.' : ''
    throw new CliError(`None of the catalog's routes is in ${lists.map(({ label }) => label).join(', ')}.${hint}`)
  }
  const comment = { path: ['$comment'], value: `Prices by ${lists.map(provenance).join('; ')}.` }
  const text = editJson(ours.text, [...edits, comment])
  const proposed = await checkedCatalog(text, 'No proposal can be made, because it would not be valid')
  const isWritten = edits.length > 0 && !options.check
  const file = isWritten
    ? await writeNew(text, options.out ?? ours.name.replace(/(\.json)?$/i, '.proposal.json'), folder)
    : undefined
  const print = json ? printProposal : showProposal
  print(out, { ...proposal, edits, lists, warnings: priceWarnings(proposed), file })
  if (options.check && (edits.length > 0 || proposal.doubts.length > 0)) fail()
}

async function checkedCatalog(text: string, complaint: string): Promise<CatalogData> {
  const { ANY_ECHO, validCatalog } = await import('./read-catalog-file.ts')
  const { namingEcho } = await import('../../layers/admin/catalog/catalog-refusal.ts')
  return validCatalog(JSON.parse(text, namingEcho(ANY_ECHO)), complaint)
}

function provenance({ label, source }: PriceList): string {
  return `${label} (${source.name.slice(0, 100)}, ${utcDay(source.changedMs)}, sha256 ${source.sha256})`
}

/** No file is overwritten: it may be a proposal that somebody is working on. */
async function writeNew(text: string, file: string, folder: string): Promise<string> {
  await writeFile(resolve(folder, file), text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EEXIST' ? 'it is there already: remove it, or name another by --out' : error.code
    throw new CliError(`The proposal '${file}' cannot be written: ${why}.`)
  })
  return file
}

type Result = Proposal & {
  readonly lists: readonly PriceList[]
  readonly warnings: readonly string[]
  readonly file: string | undefined
}

function printProposal(out: Screen, { lists, differences, edits, doubts, missing, warnings, file }: Result): void {
  printJson(out, {
    object: 'catalog.prices',
    lists: lists.map(({ label: list, source: { name: source, changedMs, sha256 } }) => {
      return { list, source, date: utcDay(changedMs), sha256 }
    }),
    drift: edits.length > 0,
    differences,
    not_believed: doubts,
    missing,
    warnings,
    proposal: file ?? null,
  })
}

function showProposal(out: Screen, { lists, differences, doubts, missing, warnings, file }: Result): void {
  for (const list of lists) out.log(provenance(list))
  if (differences.length > 0) {
    printTable(out, differences, {
      ...fields('model', 'route', 'field', 'ours'),
      proposed: { of: ({ proposed }) => proposed, style: ({ falls }) => (falls ? 'bad' : undefined) },
      lists: (row) => Array.from(Object.entries(row.lists), ([label, text]) => `${label} ${text}`).join(' | '),
      note: ({ falls }) => (falls ? 'falls by more than half' : ''),
    })
  }
  for (const doubt of doubts) out.log(`not believed: ${doubt}`)
  for (const place of missing) out.log(`in no list: ${place}`)
  for (const warning of warnings) out.error(`warning: ${warning}`)
  const same = differences.filter(({ ours, proposed }) => ours === proposed).length
  out.log(verdict(differences.length - same, same, file))
}

/** A row whose value stays is there because the lists disagree. */
function verdict(changed: number, same: number, file: string | undefined): string {
  if (changed === 0) return 'Nothing has drifted.'
  const rest = same > 0 ? `; ${same} stay as they are` : ''
  if (file === undefined) return `${changed} values have drifted${rest}.`
  return `${file} has the proposal, with ${changed} changed values${rest}. Read it, and push it yourself. To look it over: waybill catalog check ${shellPath(file)}`
}
