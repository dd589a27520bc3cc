import type { AttemptShape } from '../../../layers/admin/api/shapes/usage-record.ts'
import { type Column, cell, name, number, Table } from '../../parts/table.tsx'
import { durationText, Took } from '../../parts/took.tsx'
import type { RowFacts } from './row-facts.ts'

type Timed = AttemptShape & {
  readonly startMs: number
  readonly totalMs: number
  /** The time to the first token, of the one that answered. */
  readonly waitMs: number
}

/** By the reasons that rows store. */
const RESULTS: ReadonlyMap<string, string> = new Map([
  ['ok', 'answered'],
  ['beyond_cap', 'answered beyond its output cap, and was cut there'],
  ['open', 'not ended'],
  ['connect', 'could not be reached'],
  ['timeout', 'did not answer in time'],
  ['deadline', 'was stopped at the time limit of the request'],
  ['reset', 'broke the connection'],
  ['status', 'answered with an error'],
  ['rate_limit', 'is rate limiting us'],
  ['credential', 'refused our credential'],
  ['forbidden', 'refused the content or our account'],
  ['model_not_found', 'does not know the model'],
  ['too_large', 'found the request too large'],
  ['rejected', 'refused the request as invalid'],
  ['unsupported', 'was not asked: it does not support this request'],
  ['protocol', 'answered in a form that is not its own'],
  ['error_event', 'sent an error in its stream'],
  ['empty', 'answered nothing'],
  ['runaway', 'did not stop'],
])

const COLUMNS: readonly Column<Timed>[] = [
  name('Provider', ({ provider, model }) => (
    <>
      {provider} <code class="quiet">{model}</code>
    </>
  )),
  cell('Result', ({ result }) => <Result of={result} />, 'wide'),
  number('Took', ({ ms }) => <Took ms={ms} />),
  cell('Time', (attempt) => <Bar of={attempt} />, 'bar-cell'),
]

/** One below the other on the time of the request, in the order in which they were tried. */
export function Attempts({ of: attempts, row }: { readonly of: readonly AttemptShape[]; readonly row: RowFacts }) {
  const sumOf = (some: readonly AttemptShape[]) => some.reduce((sum, { ms }) => sum + ms, 0)
  const askedMs = sumOf(attempts)
  const totalMs = Math.max(1, askedMs, row.duration_ms ?? 0)
  // The gateway's own work is before the first of them.
  const ownMs = totalMs - askedMs
  const timed = attempts.map((attempt, i) => {
    const startMs = ownMs + sumOf(attempts.slice(0, i))
    const isLast = i === attempts.length - 1
    return { ...attempt, startMs, totalMs, waitMs: isLast && row.ttft_ms ? Math.max(0, row.ttft_ms - startMs) : 0 }
  })
  return (
    <section class="panel part">
      <div class="panel-head">
        <h2>Attempts</h2>
        <span class="quiet">
          {durationText(totalMs)} in all{ownMs > 0 && `, ${durationText(ownMs)} of them in the gateway`}
        </span>
      </div>
      <Table caption="Attempts, in the order tried" columns={COLUMNS} rows={timed} keyOf={(_, i) => i} />
    </section>
  )
}

function Result({ of: result }: { readonly of: string }) {
  const [reason = '', status] = result.split(' ')
  const isOk = reason === 'ok' || reason === 'beyond_cap'
  return (
    <>
      <span class={`badge ${isOk ? 'good' : 'bad'}`} title={result}>
        {status ?? (isOk ? 'ok' : reason)}
      </span>
      {RESULTS.get(reason) ?? result}
    </>
  )
}

/** Pale until the first token came. */
function Bar({ of: { result, ms, startMs, totalMs, waitMs } }: { readonly of: Timed }) {
  const x = (at: number) => (1000 * at) / totalMs
  const colour = result === 'ok' || result === 'beyond_cap' ? 'c0' : 'failed'
  return (
    <svg class="waterfall" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="back" width="1000" height="10" />
      <rect class={waitMs > 0 ? `${colour} waiting` : colour} x={x(startMs)} width={Math.max(4, x(ms))} height="10" />
      {waitMs > 0 && <rect class={colour} x={x(startMs + waitMs)} width={x(Math.max(0, ms - waitMs))} height="10" />}
    </svg>
  )
}
