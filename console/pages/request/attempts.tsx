import type { TriedRouteShape } from '../../../layers/admin/api/shapes/requests.ts'
import { Took } from '../../parts/moment.tsx'
import { durationText } from '../../parts/numbers.ts'
import { Panel } from '../../parts/panel.tsx'
import { type Column, cell, name, number, Table } from '../../parts/table.tsx'
import type { RowFacts } from './row-facts.ts'

type Timed = TriedRouteShape & {
  readonly startMs: number
  readonly totalMs: number
  /** The time to the first token, of the one that answered. */
  readonly waitMs: number
}

const COLUMNS: readonly Column<Timed>[] = [
  name('Provider', ({ provider, model }) => (
    <>
      {provider} <code class="quiet">{model}</code>
    </>
  )),
  cell('Result', (attempt) => <Result of={attempt} />, 'wide'),
  number('Took', ({ ms }) => <Took ms={ms} />),
  cell('Time', (attempt) => <Bar of={attempt} />, 'bar-cell'),
]

/** One below the other on the time of the request, in the order in which they were tried. */
export function Attempts({ of: attempts, row }: { readonly of: readonly TriedRouteShape[]; readonly row: RowFacts }) {
  const sumOf = (some: readonly TriedRouteShape[]) => some.reduce((sum, { ms }) => sum + ms, 0)
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
    <Panel
      title="Attempts"
      class="apart"
      beside={
        <span class="quiet">
          {durationText(totalMs)} in all{ownMs > 0 && `, ${durationText(ownMs)} of them in the gateway`}
        </span>
      }
    >
      <Table caption="Attempts, in the order tried" columns={COLUMNS} rows={timed} />
    </Panel>
  )
}

function isAnswer(result: string): boolean {
  return result === 'ok' || result === 'beyond_cap'
}

function Result({ of: { result, words, said } }: { readonly of: TriedRouteShape }) {
  const [reason, status] = result.split(' ')
  return (
    <>
      <span class={`badge ${isAnswer(result) ? 'good' : 'bad'}`} title={result}>
        {status ?? (isAnswer(result) ? 'ok' : reason)}
      </span>
      {words}
      {said && <span class="note">{said}</span>}
    </>
  )
}

/** Pale until the first token came. */
function Bar({ of: { result, ms, startMs, totalMs, waitMs } }: { readonly of: Timed }) {
  const x = (at: number) => (1000 * at) / totalMs
  const colour = isAnswer(result) ? 'c0' : 'failed'
  return (
    <svg class="waterfall" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="back" width="1000" height="10" />
      <rect class={waitMs > 0 ? `${colour} waiting` : colour} x={x(startMs)} width={Math.max(4, x(ms))} height="10" />
      {waitMs > 0 && <rect class={colour} x={x(startMs + waitMs)} width={x(Math.max(0, ms - waitMs))} height="10" />}
    </svg>
  )
}
