import { type Command, Option } from 'commander'
import type { ChangeEvent } from '../../layers/gateway/domain/change-event.ts'
import { CATALOG_EVENTS } from '../../layers/gateway/store/events/event-item.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { period, wholeNumber } from '../arguments.ts'
import { changeText } from '../change-text.ts'
import { CliError } from '../cli-error.ts'
import { printJson, printTable } from '../output.ts'
import type { Run, Session } from '../run.ts'
import { horizonOf } from '../usage-rows.ts'

type ListOptions = { key?: string; catalog?: boolean; since: number; limit: number; after?: string }

export function eventsCommand(program: Command, run: Run): void {
  program
    .command('events')
    .description('who changed a key or the catalog')
    .command('list')
    .description('the newest changes: who, what, before and after')
    .option('--key <id>', 'of this key only')
    .option('--catalog', 'of the catalog only')
    .addOption(new Option('--since <period>', 'how far back').argParser(period).default(period('30d'), '30d'))
    .option('--limit <n>', 'at most this many', wholeNumber(1, 10_000), 50)
    .option('--after <event-id>', 'go on after this one, the last of a list before')
    .action(run(listAction))
}

async function listAction({ tables, out, json, nowMs }: Session, options: ListOptions): Promise<void> {
  const { key, catalog, since, limit, after } = options
  if (key !== undefined && catalog) throw new CliError('Choose one of --key and --catalog.')
  if (after !== undefined && !/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(after)) {
    throw new CliError(`'${after}' is not the id of an event. 'waybill events list --json' shows them.`)
  }
  const of = catalog ? CATALOG_EVENTS : key
  const events: ChangeEvent[] = []
  for await (const event of listEvents(tables)({ of, fromMs: nowMs - since, toMs: horizonOf(nowMs), after })) {
    events.push(event)
    if (events.length === limit) break
  }
  if (json) return printJson(out, events.map(toJson))
  printTable(
    out,
    ['at', 'by', 'what', 'key', 'change'],
    events.map((event) => [toJson(event).at, event.by, event.what, event.keyId, changeText(event)]),
  )
}

function toJson({ atMs, id, ...rest }: ChangeEvent) {
  return { id, at: new Date(atMs).toISOString(), ...rest }
}
