import { useEffect, useState } from 'preact/hooks'
import type { BillLineShape, RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import type { AttemptShape } from '../../layers/admin/api/shapes/usage-record.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Credits } from '../parts/credits.tsx'
import { KeyLink } from '../parts/links.tsx'
import { Loading } from '../parts/loading.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { type Column, cell, count, credits, name, number, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'

/** An open request may settle any moment. */
const LIVE_MS = 4000

export function RequestPage({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  const request = useLoad<RequestShape>(`/requests/${encodeURIComponent(id)}`, isOpen ? LIVE_MS : undefined)
  const state = request.data?.state
  useEffect(() => setOpen(state === 'open'), [state])
  return (
    <Page
      title="Request"
      actions={
        request.data && (
          <CopyButton text={() => plainText(request.data)} what="the request as text" label="Copy as text" />
        )
      }
    >
      <p>
        <code>{id}</code>
      </p>
      <Loading of={request}>{(data) => <Waybill of={data} />}</Loading>
    </Page>
  )
}

function Waybill({ of: request }: { readonly of: RequestShape }) {
  const { bill, row, hold } = request
  return (
    <>
      <p>
        <Badge of={request.state} /> Key <KeyLink id={request.key_id} name={request.key_name} />
      </p>
      {hold && (
        <p class="notice warn">
          <Credits of={hold.amount} /> held until <Moment at={hold.until} />.{' '}
          {hold.expired && 'Its request is dead, and the sweep will give the credits back.'}
        </p>
      )}
      {bill.length > 0 && <Bill of={request} />}
      {row && row.attempts.length > 0 && <Attempts of={row.attempts} />}
      <h2>In words</h2>
      <dl class="facts">
        {request.explanation.map(({ name, lines }, i) => (
          <Explained key={i} name={name} lines={lines} />
        ))}
      </dl>
      {row && (
        <details>
          <summary>The row as it is stored</summary>
          <pre>{JSON.stringify(row, null, 2)}</pre>
        </details>
      )}
    </>
  )
}

function Explained({ name, lines }: { readonly name: string; readonly lines: readonly string[] }) {
  return (
    <>
      <dt>{name || 'remark'}</dt>
      <dd class="lines">{lines.join('\n')}</dd>
    </>
  )
}

function Bill({ of: request }: { readonly of: RequestShape }) {
  const { bill, row, upstream_cost, upstream_cost_source, margin } = request
  const cost = row?.cost
  const above = row?.pricing?.above
  return (
    <>
      <h2>The charge</h2>
      {above !== undefined && <p>At the price above {above.toLocaleString('en-US')} prompt tokens.</p>}
      <Table
        caption="The charge, line by line"
        columns={BILL_COLUMNS}
        rows={bill}
        keyOf={(line) => line.what}
        foot={
          <>
            {typeof cost === 'string' && <Sum name="Charged" amount={cost} />}
            {upstream_cost !== null && (
              <Sum
                name={`Cost us${upstream_cost_source === 'provider' ? ', as the provider states it' : ''}`}
                amount={upstream_cost}
              />
            )}
            {margin !== null && <Sum name="Margin" amount={margin} />}
          </>
        }
      />
    </>
  )
}

const BILL_COLUMNS: readonly Column<BillLineShape>[] = [
  name('What', (line) => line.what),
  count('Count', (line) => line.quantity),
  number('Price', ({ price, per }) => `${price} ${per === 'million' ? 'per million' : 'each'}`),
  credits('Amount', (line) => line.amount),
]

function Sum({ name, amount }: { readonly name: string; readonly amount: string }) {
  return (
    <tr>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td class="number">
        <Credits of={amount} />
      </td>
    </tr>
  )
}

type Timed = AttemptShape & { readonly startMs: number; readonly totalMs: number }

const ATTEMPT_COLUMNS: readonly Column<Timed>[] = [
  name('Provider', (attempt) => attempt.provider),
  cell('Its model', (attempt) => <code>{attempt.model}</code>),
  cell('Result', (attempt) => attempt.result),
  count('ms', (attempt) => attempt.ms),
  cell(
    'When',
    ({ result, ms, startMs, totalMs }) => (
      <svg class="waterfall" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        <rect
          class={result === 'ok' ? 'c0' : 'failed'}
          x={Math.round((startMs / totalMs) * 1000)}
          width={Math.max(4, Math.round((ms / totalMs) * 1000))}
          height="10"
        />
      </svg>
    ),
    'bar-cell',
  ),
]

/** In the order in which they were tried. */
function Attempts({ of: attempts }: { readonly of: readonly AttemptShape[] }) {
  const sumOf = (some: readonly AttemptShape[]) => some.reduce((sum, { ms }) => sum + ms, 0)
  const totalMs = Math.max(1, sumOf(attempts))
  const timed = attempts.map((attempt, i) => ({ ...attempt, startMs: sumOf(attempts.slice(0, i)), totalMs }))
  return (
    <>
      <h2>Attempts</h2>
      <Table caption="Attempts, in the order tried" columns={ATTEMPT_COLUMNS} rows={timed} keyOf={(_, i) => i} />
    </>
  )
}

function plainText(request: RequestShape | undefined): string {
  const lines = request?.explanation.flatMap(({ name, lines }) =>
    lines.map((line, i) => (i === 0 ? name : '').padEnd(14) + line),
  )
  return `${lines?.join('\n')}\n`
}
