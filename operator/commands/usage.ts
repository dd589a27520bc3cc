import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import type { Explained, RequestLine, RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { plainText } from '../../layers/gateway/domain/plain-text.ts'
import { inWords } from '../admin-client/refusal.ts'
import { CliError } from '../terminal/cli-error.ts'
import { printJson, printTable } from '../terminal/output.ts'
import { moment, period, wholeNumber } from './arguments.ts'
import { type ExportFormat, exportedRows } from './exported-rows.ts'
import type { Run, Session } from './run.ts'

const GROUPS: readonly UsageGroup[] = ['model', 'key', 'provider', 'day']
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
    .addOption(new Option('--by <group>', 'what to add up by').choices(GROUPS).default('model'))
    .action(run(summaryAction))
}

async function listAction(
  { admin, out, json, nowMs }: Session,
  options: { key?: string; since: number; limit: number },
): Promise<void> {
  const query = { key_id: options.key, from: sinceText(options.since, nowMs) }
  const requests = await admin.list<RequestLine>('/requests', query, options.limit)
  if (json) return printJson(out, requests)
  printTable(out, requests.data, {
    started: (line) => line.started_at,
    request: (line) => line.request_id,
    key: (line) => line.key_id,
    endpoint: (line) => line.endpoint,
    model: (line) => line.model,
    provider: (line) => line.provider,
    status: (line) => line.http_status,
    outcome: (line) => outcomeText(line),
    tokens: (line) => line.total_tokens,
    credits: (line) => line.cost,
  })
}

async function showAction({ admin, out, json }: Session, _: object, requestId: string): Promise<void> {
  const request = await inWords(admin.get<RequestShape>(`/requests/${encodeURIComponent(requestId)}`), {
    not_found: `There is no request '${requestId}'. It is in the X-Request-Id header of an answer.`,
  })
  if (json) printJson(out, request)
  else out.log(explanationLines(request.explanation).join('\n'))
}

const WIDTH = 14

/** An explanation for a terminal: the facts, and after a blank line the charge. */
export function explanationLines(explanation: readonly Explained[]): string[] {
  return explanation.flatMap(({ part, name, lines }, i) => {
    const isNextPart = i > 0 && part !== explanation[i - 1]?.part
    const named = lines.map((line, n) => ((n === 0 ? name : '').padEnd(WIDTH) + line).trimEnd())
    return isNextPart ? ['', ...named] : named
  })
}

async function exportAction(
  { admin, output, json, nowMs }: Session,
  { from, to = nowMs, format, key }: ExportOptions,
): Promise<void> {
  if (json && format === 'csv') {
    throw new CliError('--json and --format csv ask for two things: leave --json away, or write --format jsonl.')
  }
  await writePieces(exportedRows(admin, { fromMs: from, toMs: to, key }, format), output)
}

async function summaryAction(
  { admin, out, json, nowMs }: Session,
  options: { key?: string; since: number; by: UsageGroup },
): Promise<void> {
  const from = sinceText(options.since, nowMs)
  const page = await admin.get<UsagePage>('/usage', { group_by: options.by, from, key_id: options.key })
  if (json) return printJson(out, page)
  printTable(out, page.groups, {
    [options.by]: (group) => group.group,
    requests: (group) => group.requests,
    completed: (group) => group.completed,
    refused: (group) => group.refused,
    failed: (group) => group.failed,
    prompt: (group) => group.prompt_tokens,
    completion: (group) => group.completion_tokens,
    credits: (group) => group.cost,
    'cost us': (group) => group.upstream_cost,
    margin: (group) => group.margin,
    'without cost': (group) => group.without_cost,
  })
  const { without_cost: withoutCost } = page.total
  if (withoutCost > 0) {
    out.log(`\nThe margin leaves out answers whose route does not say what it costs: ${withoutCost}.`)
  }
}

function sinceOption(): Option {
  return new Option('--since <period>', 'how far back').argParser(period).default(period('24h'), '24h')
}

function outcomeText({ outcome, error_code, replay_of }: RequestLine): string {
  const more = error_code ?? (replay_of && 'replayed')
  return more ? `${outcome} (${more})` : outcome
}

function sinceText(sinceMs: number, nowMs: number): string {
  return new Date(Math.max(nowMs - sinceMs, 0)).toISOString()
}

/** Writes pieces as they come, in plain text, no faster than they are read. A reader that has seen enough, such as `head`, ends it. */
async function writePieces(pieces: AsyncIterable<string>, out: Writable): Promise<void> {
  try {
    await pipeline(Readable.from(plain(pieces)), out, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

async function* plain(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield plainText(piece)
}
