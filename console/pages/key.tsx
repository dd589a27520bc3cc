import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { GrantShape, KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { shellWord } from '../../layers/gateway/domain/shell-word.ts'
import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/time.ts'
import { keyPath } from '../api.ts'
import { attentionOf, Badge } from '../parts/badge.tsx'
import { Command } from '../parts/command.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { By, eventColumns } from '../parts/event-columns.tsx'
import { Loading } from '../parts/loading.tsx'
import { Moment, useNow } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { dayText } from '../parts/ranges.ts'
import { REQUEST_COLUMNS } from '../parts/request-columns.tsx'
import { Rows } from '../parts/rows.tsx'
import { type Column, cell, credits } from '../parts/table.tsx'
import { UsageChart } from '../parts/usage-chart.tsx'
import { type Listed, useList } from '../parts/use-list.ts'
import { type Loaded, useLoad } from '../parts/use-load.ts'
import { go, linkTo, queryText } from '../router.ts'
import { Balance } from './key/balance.tsx'
import { GraceBanner } from './key/grace-banner.tsx'
import { DIALOGS, type DialogName, KeyActions } from './key/key-actions.tsx'
import type { KeyDialogProps } from './key/key-dialog.ts'
import { OpenHolds } from './key/open-holds.tsx'
import { Limits, Settings } from './key/settings.tsx'

const LIVE_MS = 3000
const USAGE_MS = 60_000
const DAYS = 30
const LAST_REQUESTS = 10

export function KeyPage({ id }: { readonly id: string }) {
  const path = keyPath(id)
  const key = useLoad<KeyDetail>(path, LIVE_MS)
  const from = dayText(useNow(HOUR_MS) - (DAYS - 1) * DAY_MS)
  const usage = useLoad<UsagePage>(`/usage?${queryText({ key_id: id, group_by: 'model', from })}`, USAGE_MS)
  const grants = useList<GrantShape>(`${path}/grants`, {})
  const events = useList<EventShape>(`${path}/events`, {})
  const [open, setOpen] = useState<DialogName | undefined>(undefined)
  const Opened = open && DIALOGS[open]
  const changed = (now: KeyDetail) => {
    key.set(now)
    setOpen(undefined)
    events.reload()
    grants.reload()
  }
  return (
    <Page
      title={key.data ? key.data.name : id}
      actions={key.data && key.data.status !== 'revoked' && <KeyActions of={key.data} onOpen={setOpen} />}
    >
      <Loading of={key}>
        {(data) => (
          <>
            <p class="under-title">
              <Badge of={data.status} />
              {attentionOf(data).map((badge) => (
                <Badge key={badge} of={badge} />
              ))}
              <code class="quiet">{data.id}</code>
              <CopyButton text={() => data.id} what="the key's id" />
            </p>
            <GraceBanner of={data} onDone={changed} />
            <Balance of={data} usage={usage.data} days={DAYS} />
            <div class="two">
              <Usage of={usage} keyId={id} />
              <section class="panel">
                <Limits of={data} />
                <Settings of={data} />
              </section>
            </div>
            <OpenHolds of={data.holds} />
          </>
        )}
      </Loading>
      <LastRequests keyId={id} />
      <div class="two">
        <section class="panel">
          <h2>Changes</h2>
          <Rows
            of={events}
            caption="Changes"
            columns={EVENT_COLUMNS}
            keyOf={(event) => event.id}
            empty={<p>No change is on record.</p>}
          />
        </section>
        <Grants of={grants} id={id} />
      </div>
      {Opened && <KeyDialog of={key} dialog={Opened} onDone={changed} onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

type OpenedProps = Omit<KeyDialogProps, 'of'> & {
  readonly of: Loaded<KeyDetail>
  readonly dialog: (props: KeyDialogProps) => VNode | null
}

/** A dialog works on the key as it was when the dialog opened, even if the page learns of changes meanwhile. */
function KeyDialog({ of, dialog: Opened, ...rest }: OpenedProps) {
  const [key] = useState(of.data)
  return key ? <Opened of={key} {...rest} /> : null
}

function Usage({ of: usage, keyId }: { readonly of: Loaded<UsagePage>; readonly keyId: string }) {
  if (!usage.data) {
    return (
      <section class="panel">
        <h2>Usage</h2>
        <div class="inside">
          <Loading of={usage}>{() => null}</Loading>
        </div>
      </section>
    )
  }
  const { data } = usage.data
  const endOf = (start: string) => data.find(({ start_time }) => start_time === start)?.end_time
  return (
    <UsageChart
      title={`by model, ${DAYS} days`}
      page={usage.data}
      isByHour={false}
      onPick={(start) => go(['requests'], { key_id: keyId, from: start, to: endOf(start) })}
    />
  )
}

function LastRequests({ keyId }: { readonly keyId: string }) {
  const requests = useList<RequestLine>('/requests', { key_id: keyId })
  return (
    <section class="panel apart">
      <div class="panel-head">
        <h2>Last requests</h2>
        <a href={linkTo(['requests'], { key_id: keyId, range: '30d' })}>All requests of this key</a>
      </div>
      <Rows
        of={{ ...requests, rows: requests.rows.slice(0, LAST_REQUESTS), hasMore: false }}
        caption="Last requests"
        columns={OWN_COLUMNS}
        keyOf={(line) => line.request_id}
        empty={
          <p>
            This key has made no requests yet. <a href={linkTo(['playground'])}>Playground</a> shows how one looks.
          </p>
        }
      />
    </section>
  )
}

function Grants({ of: grants, id }: { readonly of: Listed<GrantShape>; readonly id: string }) {
  return (
    <section class="panel">
      <h2>Grants</h2>
      <Rows
        of={grants}
        caption="Grants"
        columns={GRANT_COLUMNS}
        keyOf={(grant) => grant.id}
        empty={
          <>
            <p>
              Nothing was granted since the key was made. <strong>Grant credits</strong> adds some, and so does
            </p>
            <Command>{`keys grant ${shellWord(id)} 25`}</Command>
          </>
        }
      />
    </section>
  )
}

const OWN_COLUMNS = REQUEST_COLUMNS.filter(({ head }) => head !== 'Key')

const GRANT_COLUMNS: readonly Column<GrantShape>[] = [
  cell('When', (grant) => <Moment at={grant.granted_at} isBrief />),
  credits('Credits', (grant) => grant.credits),
  cell('Reference', (grant) => grant.reference, 'short'),
  cell('By', (grant) => <By of={grant.by} />, 'short'),
]

const EVENT_COLUMNS = eventColumns()
