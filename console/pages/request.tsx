import { useEffect, useState } from 'preact/hooks'
import type { RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { useLoad } from '../parts/use-load.ts'
import { Attempts } from './request/attempts.tsx'
import { Bill } from './request/bill.tsx'
import { Notices } from './request/notices.tsx'
import { customerText, explained, rowFacts } from './request/row-facts.ts'
import { Summary } from './request/summary.tsx'

/** An open request may settle any moment. */
const LIVE_MS = 4000

export function RequestPage({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  const request = useLoad<RequestShape>(`/requests/${encodeURIComponent(id)}`, isOpen ? LIVE_MS : undefined)
  const { data } = request
  const state = data?.state
  useEffect(() => setOpen(state === 'open'), [state])
  return (
    <Page
      title="Request"
      actions={
        <>
          <CopyButton text={() => id} what="the request's id" label="Copy id" />
          {data && (
            <CopyButton
              text={() => customerText(data)}
              what="the request in words, without its cost to us"
              label="Copy for the customer"
            />
          )}
        </>
      }
    >
      <p>
        <code>{id}</code>
      </p>
      <Loading of={request}>{(found) => <Waybill of={found} />}</Loading>
    </Page>
  )
}

function Waybill({ of: request }: { readonly of: RequestShape }) {
  const { bill, row } = request
  const facts = rowFacts(request)
  return (
    <>
      <Summary of={request} />
      <Notices of={request} />
      {request.attempts.length > 0 && <Attempts of={request.attempts} row={facts} />}
      {bill.length > 0 && <Bill of={request} />}
      <section class="panel part">
        <h2>Details</h2>
        <dl class="facts">
          {facts.endpoint && (
            <Fact name="Endpoint" text={facts.stream ? `${facts.endpoint}, streamed` : facts.endpoint} />
          )}
          {bill.length > 0 && <Fact name="Counted by" text={explained(request, 'counted by')} />}
          <Fact name="User" text={explained(request, 'user')} />
          <Fact name="Tags" text={explained(request, 'tags')} />
          <Fact name="Held" text={explained(request, 'held')} />
          <Fact name="Loss" text={explained(request, 'loss')} />
          <Fact name="Stop reason" text={explained(request, 'stop reason')} />
          <Fact name="State" text={explained(request, 'state')} />
        </dl>
        {row && (
          <details>
            <summary>The row as it is stored</summary>
            <pre>{JSON.stringify(row, null, 2)}</pre>
          </details>
        )}
      </section>
    </>
  )
}

function Fact({ name, text }: { readonly name: string; readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <>
      <dt>{name}</dt>
      <dd class="lines">{text}</dd>
    </>
  )
}
