import { useState } from 'preact/hooks'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { GrantShape, HoldShape, KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { keyPath } from '../api.ts'
import { By, eventColumns, REQUEST_COLUMNS } from '../parts/columns.tsx'
import { CopyButton } from '../parts/controls.tsx'
import { Loading } from '../parts/loading.tsx'
import { dayText } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { type Column, cell, credits, name, Rows, Table } from '../parts/table.tsx'
import { UsageChart } from '../parts/usage-chart.tsx'
import { useList, useLive } from '../parts/use-load.ts'
import { attentionOf, Badge, Moment, RequestLink, useNow } from '../parts/values.tsx'
import { go, linkTo, type PageUrl, queryText } from '../router.ts'
import { type ActName, KeyActions, KeyDialog } from './key/dialogs.tsx'
import { Balance, DAYS, GraceBanner, Limits, Settings } from './key/panels.tsx'

const LIVE_MS = 3000
const USAGE_MS = 60_000
const LAST_REQUESTS = 10

export function KeyPage({ url }: { readonly url: PageUrl }) {
  const [, id = ''] = url.path
  const path = keyPath(id)
  const key = useLive<KeyDetail>(path, LIVE_MS)
  const from = dayText(useNow(HOUR_MS) - (DAYS - 1) * DAY_MS)
  const usage = useLive<UsagePage>(`/usage?${queryText({ key_id: id, group_by: 'model', from })}`, USAGE_MS)
  const requests = useList<RequestLine>('/requests', { key_id: id })
  const grants = useList<GrantShape>(`${path}/grants`)
  const events = useList<EventShape>(`${path}/events`)
  const [act, setAct] = useState<ActName | undefined>(undefined)
  const changed = (now: KeyDetail) => {
    key.set(now)
    setAct(undefined)
    events.reload()
    grants.reload()
  }
  return (
    <Page
      title={key.data ? key.data.name : id}
      actions={key.data && key.data.status !== 'revoked' && <KeyActions of={key.data} onOpen={setAct} />}
    >
      <Loading of={key}>
        {(data) => (
          <>
            <p class="row wrap under-title">
              <Badge of={data.status} />
              {attentionOf(data).map((badge) => (
                <Badge key={badge} of={badge} />
              ))}
              <code class="quiet">{data.id}</code>
              <CopyButton text={() => data.id} what="the key's id" class="tiny" />
            </p>
            <GraceBanner of={data} onEnd={() => setAct('end-grace')} />
            <Balance of={data} usage={usage.data} />
            <div class="two">
              <Loading of={usage}>
                {(page) => (
                  <UsageChart
                    title={`by model, ${DAYS} days`}
                    page={page}
                    url={url}
                    isByHour={false}
                    onPick={(first, end) => go(['requests'], { key_id: id, from: first, to: end })}
                  />
                )}
              </Loading>
              <section class="panel">
                <Limits of={data} />
                <Settings of={data} />
              </section>
            </div>
            {data.holds.length > 0 && (
              <Panel title="Open holds" class="apart">
                <Table caption="Open holds" columns={HOLDS} rows={data.holds} by="request_id" />
              </Panel>
            )}
          </>
        )}
      </Loading>
      <Panel
        title="Last requests"
        class="apart"
        beside={<a href={linkTo(['requests'], { key_id: id, range: '30d' })}>All requests of this key</a>}
      >
        <Rows
          of={{ ...requests, rows: requests.rows.slice(0, LAST_REQUESTS), hasMore: false }}
          caption="Last requests"
          columns={REQUESTS}
          by="request_id"
          empty={
            <Empty>
              This key has made no requests yet. <a href={linkTo(['playground'])}>Playground</a> shows how one looks.
            </Empty>
          }
        />
      </Panel>
      <div class="two">
        <Panel title="Changes">
          <Rows of={events} caption="Changes" columns={EVENTS} by="id" empty={<Empty>No change is on record.</Empty>} />
        </Panel>
        <Panel title="Grants">
          <Rows
            of={grants}
            caption="Grants"
            columns={GRANTS}
            by="id"
            empty={
              <Empty command={`keys grant ${shellWord(id)} 25`}>
                Nothing was granted since the key was made. <strong>Grant credits</strong> adds some, and so does
              </Empty>
            }
          />
        </Panel>
      </div>
      {act && key.data && <KeyDialog act={act} of={key.data} onDone={changed} onClose={() => setAct(undefined)} />}
    </Page>
  )
}

const HOLDS: readonly Column<HoldShape>[] = [
  name('Request', (hold) => <RequestLink id={hold.request_id} />),
  credits('Held', (hold) => hold.amount),
  cell('Until', (hold) => <Moment at={hold.until} />),
  cell('State', (hold) => (hold.expired ? 'dead: the sweep gives it back' : <Badge of="open" />)),
]

const REQUESTS = REQUEST_COLUMNS.filter(({ head }) => head !== 'Key')

const EVENTS = eventColumns()

const GRANTS: readonly Column<GrantShape>[] = [
  cell('When', (grant) => <Moment at={grant.granted_at} isBrief />),
  credits('Credits', (grant) => grant.credits),
  cell('Reference', (grant) => grant.reference, 'short'),
  cell('By', (grant) => <By of={grant.by} />, 'short'),
]
