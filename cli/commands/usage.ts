import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Explained, RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { GROUP_WORDS, USAGE_GROUP, USAGE_GROUPS } from '../../layers/admin/usage/usage-groups.ts'
import { plainText } from '../../layers/gateway/domain/basics/plain-text.ts'
import { CliError, printJson, printTable, summed, wide } from '../../layers/terminal/output.ts'
import { inWords } from '../admin-client/refusal.ts'
import { type ExportFormat, exportedText } from '../books/exported-rows.ts'
import { mustBe, option, wholeNumber } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'
import { FILTER_OPTIONS, filterQuery, LIST_OPTIONS, listAction, tailAction, type UsageFilter } from './requests.ts'
import { type RangeOptions, rangeOf, rangeOptions, rangeQuery, tellRange } from './time-range.ts'

type ExportOptions = RangeOptions & UsageFilter & { format: ExportFormat; withCost?: string }
type SummaryOptions = RangeOptions & UsageFilter & { by: string }

export const USAGE: CommandRow = {
  words: 'what was used, by whom, at what cost; all times are UTC',
  commands: {
    list: {
      words: 'the newest requests',
      options: [
        ...rangeOptions(false),
        ...LIST_OPTIONS,
        option('--limit <n>', 'at most this many', wholeNumber(1, 10_000), 50),
      ],
      work: listAction,
    },
    tail: {
      words: 'requests as they end, until Ctrl-C; with --json a line for each',
      options: [...LIST_OPTIONS, option('--limit <n>', 'this many that have ended already', wholeNumber(0, 100), 10)],
      work: tailAction,
    },
    'show <request-id>': { words: 'one request, by its X-Request-Id, and its charge line by line', work: showAction },
    export: {
      words: 'every row of a range, streamed to standard output, oldest first within a key',
      options: [
        ...rangeOptions(true),
        option('--format <format>', 'how to write it').choices(['csv', 'jsonl']).default('jsonl'),
        option('--with-cost', 'also what the requests cost you').preset('true'),
        ...FILTER_OPTIONS,
      ],
      work: exportAction,
    },
    summary: {
      words: 'totals, with what they cost us and the margin',
      options: [
        ...rangeOptions(false),
        ...FILTER_OPTIONS,
        option('--by <group>', `what to add up by: ${GROUP_WORDS}`)
          .choices(USAGE_GROUPS)
          .argParser(mustBe(`one of ${GROUP_WORDS}`, (text) => (USAGE_GROUP.test(text) ? text : undefined)))
          .default('model'),
      ],
      work: summaryAction,
    },
  },
}

async function showAction({ admin, out, json }: Session, _: object, requestId: string): Promise<void> {
  const request = await inWords(admin.get<RequestShape>(`/requests/${encodeURIComponent(requestId)}`), {
    not_found: `There is no request '${requestId}'. It is in the X-Request-Id header of an answer.`,
  })
  if (json) printJson(out, request)
  else out.log(explanationLines(request.explanation).join('\n'))
}

/** An explanation for a terminal: the facts, and after a blank line the charge. */
export function explanationLines(explanation: readonly Explained[]): string[] {
  return explanation.flatMap(({ part, name, lines }, i) => {
    const isNextPart = i > 0 && part !== explanation[i - 1]?.part
    const named = lines.map((line, n) => `${(n === 0 ? name : '').padEnd(13)} ${line}`.trimEnd())
    return isNextPart ? ['', ...named] : named
  })
}

async function exportAction(session: Session, options: ExportOptions): Promise<void> {
  const { admin, terminal, json, nowMs } = session
  const { format, withCost: with_cost } = options
  if (json && format === 'csv') {
    throw new CliError('--json and --format csv ask for two things: leave --json away, or write --format jsonl.')
  }
  const { fromMs, toMs = nowMs } = rangeOf(options, nowMs)
  const pieces = exportedText(admin, { fromMs, toMs, ...filterQuery(options), with_cost }, format)
  // No faster than they are read. A reader that has seen enough, such as `head`, ends it.
  await pipeline(Readable.from(shown(pieces, session)), terminal.output, { end: false }).catch((error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

/** Pieces in plain text. Their number of lines is shown as progress, unless the rows themselves are on the terminal. */
async function* shown(pieces: AsyncIterable<string>, { progress, out }: Session): AsyncGenerator<string> {
  if (out.isTerminal) progress.stop()
  let lines = 0
  for await (const piece of pieces) {
    lines += piece.split('\n').length - 1
    progress.say(`usage export: ${lines} lines`)
    yield plainText(piece)
  }
}

async function summaryAction(session: Session, options: SummaryOptions): Promise<void> {
  const { admin, out, json, nowMs } = session
  const range = rangeOf(options, nowMs)
  // A table has no buckets.
  const query = { group_by: options.by, ...rangeQuery(range), ...filterQuery(options), top: json ? undefined : 1 }
  const page = await admin.get<UsagePage>('/usage', query)
  if (json) return printJson(out, page)
  tellRange(out, range)
  printTable(out, page.groups, {
    [options.by]: { of: (group) => group.group, short: (group) => group.label },
    requests: summed((group) => group.requests),
    completed: { of: (group) => group.completed, isSummed: true, isSpare: true },
    refused: { of: (group) => group.refused, isSummed: true, isSpare: true },
    failed: { of: (group) => group.failed, isSummed: true, style: ({ failed }) => (failed > 0 ? 'bad' : undefined) },
    broken: { of: (group) => group.broken, isSummed: true, style: ({ broken }) => (broken > 0 ? 'bad' : undefined) },
    prompt: { of: (group) => group.prompt_tokens, isSummed: true, isSpare: true },
    completion: { of: (group) => group.completion_tokens, isSummed: true, isSpare: true },
    charged: summed((group) => group.cost),
    'provider cost': summed((group) => group.upstream_cost),
    margin: summed((group) => group.margin),
    'without cost': { of: (group) => group.without_cost, isSummed: true, isSpare: true },
    share: wide((group) => `${(group.share / 10).toFixed(1)} %`),
  })
  const { without_cost: withoutCost } = page.total
  if (withoutCost > 0) {
    out.log(`\nThe margin leaves out answers whose route does not say what it costs: ${withoutCost}.`)
  }
}
