import { type Command, Option } from 'commander'
import type { UsageRow } from '../../layers/gateway/domain/usage-row.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import type { TimeRange } from '../../layers/gateway/store/usage/query-usage-rows.ts'
import { readUsageRow } from '../../layers/gateway/store/usage/read-usage-row.ts'
import { toUsageItem } from '../../layers/gateway/store/usage/usage-item.ts'
import { moment, period, wholeNumber } from '../arguments.ts'
import { CliError } from '../cli-error.ts'
import { explainOpenHold, explainRequest } from '../explain/explain-request.ts'
import { type ExportFormat, exportRows } from '../export-rows.ts'
import { findOpenHold } from '../find-open-hold.ts'
import { printJson, printTable } from '../output.ts'
import type { Run, Session } from '../run.ts'
import { summarizeUsage } from '../summarize-usage.ts'
import { type UsageOfDay, usageOfDays } from '../usage-of-days.ts'
import { horizonOf, newestRows, usageRows } from '../usage-rows.ts'

const GROUPS = {
  model: ({ part }: UsageOfDay) => part.model ?? '-',
  key: ({ keyId }: UsageOfDay) => keyId,
  provider: ({ part }: UsageOfDay) => part.provider ?? '-',
  day: ({ day }: UsageOfDay) => day,
}
type GroupName = keyof typeof GROUPS
type ExportOptions = { from: number; to?: number; format: ExportFormat; key?: string }

export function usageCommand(program: Command, run: Run): void {
  const usage = program.command('usage').description('what was used, by whom, at what cost')

  usage
    .command('list')
    .description('the newest requests')
    .option('--key <id>', 'of this key only')
    .addOption(sinceOption())
    .option('--limit <n>', 'at most this many', wholeNumber(1, 10_000), 50)
    .action(run(listAction))

  usage
    .command('show <request-id>')
    .description('one request, by its X-Request-Id, and its charge line by line')
    .action(run(showAction))

  usage
    .command('export')
    .description('every row of a range, streamed to standard output, oldest first within a key')
    .requiredOption('--from <moment>', 'the first moment: a UTC day or an ISO instant', moment)
    .option('--to <moment>', 'up to this moment and without it; now, unless given', moment)
    .addOption(new Option('--format <format>', 'how to write it').choices(['csv', 'jsonl']).default('jsonl'))
    .option('--key <id>', 'of this key only')
    .action(run(exportAction))

  usage
    .command('summary')
    .description('totals, with what they cost us and the margin')
    .option('--key <id>', 'of this key only')
    .addOption(sinceOption())
    .addOption(new Option('--by <group>', 'what to add up by').choices(Object.keys(GROUPS)).default('model'))
    .action(run(summaryAction))
}

async function listAction(
  { tables, out, json, nowMs }: Session,
  options: { key?: string; since: number; limit: number },
): Promise<void> {
  const all = usageRows(tables, options.key, rangeOf(options.since, nowMs))
  const rows = await newestRows(all, options.limit)
  if (json) return printJson(out, rows.map(toUsageItem))
  printTable(
    out,
    ['started', 'request', 'key', 'endpoint', 'model', 'provider', 'status', 'outcome', 'tokens', 'credits'],
    rows.map((row) => [
      new Date(row.startedAtMs).toISOString(),
      row.requestId,
      row.keyId,
      row.endpoint,
      row.model,
      row.provider,
      row.httpStatus,
      outcomeText(row),
      row.promptTokens + row.completionTokens,
      row.cost,
    ]),
  )
}

async function showAction({ tables, out, json, nowMs }: Session, _: object, requestId: string): Promise<void> {
  const row = await readUsageRow(tables)(requestId)
  if (!row) return showOpenHold({ tables, out, json, nowMs }, requestId)
  if (json) return printJson(out, toUsageItem(row))
  const key = await readKey(tables)(row.keyId)
  out.log(explainRequest(row, key, nowMs).join('\n'))
}

async function exportAction(
  { tables, output, json, nowMs }: Session,
  { from, to = nowMs, format, key }: ExportOptions,
): Promise<void> {
  if (json && format === 'csv') {
    throw new CliError('--json and --format csv ask for two things: leave --json away, or write --format jsonl.')
  }
  if (from >= to) {
    const [first, last] = [from, to].map((ms) => new Date(ms).toISOString())
    throw new CliError(`--from must be before --to, but ${first} is not before ${last}.`)
  }
  const range = { fromMs: from, toMs: Math.min(to, horizonOf(nowMs)) }
  await exportRows(usageRows(tables, key, range, 'oldest first'), format, output)
}

async function summaryAction(
  { tables, out, json, nowMs }: Session,
  options: { key?: string; since: number; by: GroupName },
): Promise<void> {
  const usage = usageOfDays(tables, options.key, rangeOf(options.since, nowMs), nowMs)
  const totals = await summarizeUsage(usage, GROUPS[options.by])
  if (json)
    return printJson(
      out,
      totals.map(({ group, ...rest }) => ({ [options.by]: group, ...rest })),
    )
  printTable(
    out,
    [
      options.by,
      'requests',
      'completed',
      'refused',
      'failed',
      'prompt',
      'completion',
      'credits',
      'cost us',
      'margin',
      'without cost',
    ],
    totals.map((total) => [
      total.group,
      total.requests,
      total.completed,
      total.refused,
      total.failed,
      total.promptTokens,
      total.completionTokens,
      total.cost,
      total.upstreamCost,
      total.margin,
      total.withoutCost,
    ]),
  )
  const withoutCost = totals.reduce((sum, total) => sum + total.withoutCost, 0)
  if (withoutCost > 0) {
    out.log(`\nThe margin leaves out answers whose route does not say what it costs: ${withoutCost}.`)
  }
}

function sinceOption(): Option {
  return new Option('--since <period>', 'how far back').argParser(period).default(period('24h'), '24h')
}

function outcomeText({ outcome, errorCode, replayOf }: UsageRow): string {
  const more = errorCode ?? (replayOf && 'replayed')
  return more ? `${outcome} (${more})` : outcome
}

function rangeOf(sinceMs: number, nowMs: number): TimeRange {
  return { fromMs: nowMs - sinceMs, toMs: horizonOf(nowMs) }
}

async function showOpenHold(
  { tables, out, json, nowMs }: Pick<Session, 'tables' | 'out' | 'json' | 'nowMs'>,
  requestId: string,
): Promise<void> {
  const open = await findOpenHold(tables, requestId)
  if (!open) throw new CliError(`There is no request '${requestId}'. It is in the X-Request-Id header of an answer.`)
  const { key, hold } = open
  if (!json) return out.log(explainOpenHold(requestId, key, hold, nowMs).join('\n'))
  const holdUntil = new Date(hold.untilMs).toISOString()
  printJson(out, { requestId, keyId: key.id, hold: hold.amount, holdUntil, expired: hold.untilMs <= nowMs })
}
