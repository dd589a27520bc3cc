import type { BillLineShape, RequestShape, TriedRouteShape } from '../../../layers/admin/api/shapes/requests.ts'
import { counted, durationText } from '../../parts/numbers.ts'
import { Panel } from '../../parts/panel.tsx'
import { type Column, cell, count, credits, name, number, Table } from '../../parts/table.tsx'
import { Credits, Took } from '../../parts/values.tsx'
import { type RowFacts, rowFacts } from './row-facts.ts'

type Timed = TriedRouteShape & {
  readonly startMs: number
  readonly totalMs: number
  /** The time to the first token, of the one that answered. */
  readonly waitMs: number
}

const ATTEMPT_COLUMNS: readonly Column<Timed>[] = [
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
      <Table caption="Attempts, in the order tried" columns={ATTEMPT_COLUMNS} rows={timed} />
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

const BILL_COLUMNS: readonly Column<BillLineShape>[] = [
  name('What', (line) => line.what),
  count('Count', (line) => line.quantity),
  number('Price', ({ price, per }) => `${price} ${per === 'million' ? 'per million' : 'each'}`),
  credits('Amount', (line) => line.amount),
]

export function Bill({ of: request }: { readonly of: RequestShape }) {
  const { bill, row, upstream_cost, upstream_cost_source, margin } = request
  const { cost } = rowFacts(request)
  const above = row?.pricing?.above
  return (
    <Panel
      title="The charge"
      class="apart"
      beside={above !== undefined && <span class="quiet">At the price above {counted(above)} prompt tokens</span>}
    >
      <Table
        caption="The charge, line by line"
        columns={BILL_COLUMNS}
        rows={bill}
        by="what"
        foot={
          <>
            {cost !== undefined && <Sum name="Charged" amount={cost} />}
            {upstream_cost !== null && (
              <Sum
                name={`Provider cost${upstream_cost_source === 'provider' ? ', as the provider states it' : ''}`}
                amount={upstream_cost}
              />
            )}
            {margin !== null && <Sum name="Margin" amount={margin} />}
          </>
        }
      />
    </Panel>
  )
}

function Sum({ name, amount }: { readonly name: string; readonly amount: string }) {
  return (
    <tr class="sum">
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td class="number">
        <Credits of={amount} />
      </td>
    </tr>
  )
}
