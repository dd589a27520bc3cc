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
import { Table } from '../parts/table.tsx'
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
        head={
          <>
            <th scope="col">What</th>
            <th scope="col" class="number">
              Count
            </th>
            <th scope="col" class="number">
              Price
            </th>
            <th scope="col" class="number">
              Amount
            </th>
          </>
        }
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
      >
        {bill.map((line) => (
          <BillRow key={line.what} of={line} />
        ))}
      </Table>
    </>
  )
}

function BillRow({ of: { what, quantity, price, per, amount } }: { readonly of: BillLineShape }) {
  return (
    <tr>
      <th scope="row">{what}</th>
      <td class="number">{quantity.toLocaleString('en-US')}</td>
      <td class="number">
        {price} {per === 'million' ? 'per million' : 'each'}
      </td>
      <td class="number">
        <Credits of={amount} />
      </td>
    </tr>
  )
}

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

/** In the order in which they were tried. */
function Attempts({ of: attempts }: { readonly of: readonly AttemptShape[] }) {
  const total = Math.max(
    1,
    attempts.reduce((sum, { ms }) => sum + ms, 0),
  )
  const starts = attempts.map((_, i) => attempts.slice(0, i).reduce((sum, { ms }) => sum + ms, 0))
  return (
    <>
      <h2>Attempts</h2>
      <Table
        caption="Attempts, in the order tried"
        head={
          <>
            <th scope="col">Provider</th>
            <th scope="col">Its model</th>
            <th scope="col">Result</th>
            <th scope="col" class="number">
              ms
            </th>
            <th scope="col">When</th>
          </>
        }
      >
        {attempts.map(({ provider, model, result, ms }, i) => (
          <tr key={i}>
            <th scope="row">{provider}</th>
            <td>
              <code>{model}</code>
            </td>
            <td>{result}</td>
            <td class="number">{ms.toLocaleString('en-US')}</td>
            <td class="bar-cell">
              <svg class="waterfall" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
                <rect
                  class={result === 'ok' ? 'c0' : 'failed'}
                  x={Math.round(((starts[i] ?? 0) / total) * 1000)}
                  width={Math.max(4, Math.round((ms / total) * 1000))}
                  height="10"
                />
              </svg>
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function plainText(request: RequestShape | undefined): string {
  const lines = request?.explanation.flatMap(({ name, lines }) =>
    lines.map((line, i) => (i === 0 ? name : '').padEnd(14) + line),
  )
  return `${lines?.join('\n')}\n`
}
