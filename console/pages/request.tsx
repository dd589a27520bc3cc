import type { RequestShape } from '../../layers/admin/api/shapes/requests.ts'
import { CopyButton } from '../parts/controls.tsx'
import { Facts, Loading, Page, Panel } from '../parts/page.tsx'
import { useLive } from '../parts/use-load.ts'
import type { PageUrl } from '../router.ts'
import { Attempts, Bill, Notices, Summary } from './request/panels.tsx'
import { customerText, explained, type RowFacts } from './request/row-facts.ts'

/** An open request may settle any moment. */
const LIVE_MS = 4000

export function RequestPage({ url }: { readonly url: PageUrl }) {
  const [, id = ''] = url.path
  const paceOf = (found?: RequestShape) => (found?.state === 'open' ? LIVE_MS : undefined)
  const request = useLive(`/requests/${encodeURIComponent(id)}`, paceOf)
  const { data } = request
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
  const facts: RowFacts = row ?? {}
  return [
    <Summary of={request} />,
    <Notices of={request} />,
    request.attempts.length > 0 && <Attempts of={request.attempts} row={facts} />,
    bill.length > 0 && <Bill of={request} />,
    <Panel title="Details" class="apart">
      <Facts
        of={[
          ['Endpoint', facts.endpoint && (facts.stream ? `${facts.endpoint}, streamed` : facts.endpoint)],
          ['Counted by', bill.length > 0 && explained(request, 'counted by')],
          ...EXPLAINED.map((name) => [name, explained(request, name.toLowerCase())] as const),
        ]}
      />
      {row && (
        <details>
          <summary>The row as it is stored</summary>
          <pre>{JSON.stringify(row, null, 2)}</pre>
        </details>
      )}
    </Panel>,
  ]
}

const EXPLAINED = ['User', 'Tags', 'Held', 'Loss', 'Stop reason', 'State']
