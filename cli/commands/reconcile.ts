import { CliError, printJson, printTable, summed } from '../../layers/terminal/output.ts'
import { option, percentage, required, upTo } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'
import { DAY_OPTIONS, daysOf, type RangeOptions } from './time-range.ts'

type ReconcileOptions = RangeOptions & {
  readonly provider: string
  readonly bill: readonly string[]
  readonly tolerance: bigint
  readonly csv?: boolean
}

export const RECONCILE: CommandRow = {
  words:
    'a provider’s own bill beside our rows, by UTC day and model; exits with 1 if they differ by more than the tolerance',
  options: [
    required('--provider <name>', 'the provider, by its name in the catalog'),
    required(
      '--bill <file>',
      'costs of OpenAI, cost report of Anthropic, activity of OpenRouter, or cost and usage report of AWS; may be given more than once',
      upTo(100, 'files'),
    ),
    ...DAY_OPTIONS,
    // Commander cannot print a bigint in its help.
    option('--tolerance <percent>', 'differences up to this are fine', percentage(100)).default(100n, '1'),
    option('--csv', 'print CSV, with a row for each day and model'),
  ],
  work: reconcileAction,
}

async function reconcileAction(session: Session, options: ReconcileOptions): Promise<void> {
  const { out, json, nowMs, terminal } = session
  if (json && options.csv) throw new CliError('Choose one of --json and --csv.')
  const { fromMs, toMs } = daysOf(options, nowMs)
  const { reasonText, reconciliationCsv, verdictOf } = await import('../bills/reconcile.ts')
  const { MOST_BILL_BYTES, reconciled } = await import('../bills/reconciliation.ts')
  const { readSources } = await import('../reading/read-source.ts')
  const files = await readSources(options.bill, { folder: terminal.folder, nowMs, mostBytes: MOST_BILL_BYTES })
  const made = await reconciled(session, { ...options, files, fromMs, toMs })
  if (!made.ok) session.fail()
  if (options.csv) return out.log(reconciliationCsv(made).trimEnd())
  if (json) {
    const bill = { ...made.bill, files: files.map(({ name, sha256 }) => ({ name, sha256 })) }
    return printJson(out, { ...made, bill })
  }
  printTable(out, made.data, {
    day: { of: ({ day }) => day, isWhole: true },
    model: ({ model }) => model,
    requests: { of: ({ requests }) => requests, isSummed: true, isSpare: true },
    charged: { of: ({ charged }) => charged, isSummed: true, isSpare: true },
    'our cost': summed((row) => row.upstream_cost),
    billed: summed(({ billed }) => billed),
    difference: { ...summed(({ difference }) => difference), style: (row) => (row.within_tolerance ? 'good' : 'bad') },
    'may be because of': reasonText,
  })
  for (const note of made.notes) out.log(note)
  out.log(verdictOf(made))
}
