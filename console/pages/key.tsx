import { Fragment, type VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { GrantShape, KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { SettingField } from '../../layers/admin/settings/setting-fields.ts'
import { shownText } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import type { Setting } from '../../layers/gateway/domain/key-settings.ts'
import { Badge } from '../parts/badge.tsx'
import { Command } from '../parts/command.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Credits } from '../parts/credits.tsx'
import { eventColumns } from '../parts/event-columns.tsx'
import { Loading } from '../parts/loading.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { REQUEST_COLUMNS } from '../parts/request-columns.tsx'
import { Rows } from '../parts/rows.tsx'
import { type Column, cell, credits } from '../parts/table.tsx'
import { useList } from '../parts/use-list.ts'
import { type Loaded, useLoad } from '../parts/use-load.ts'
import { linkTo } from '../router.ts'
import { GraceBanner } from './key/grace-banner.tsx'
import { DIALOGS, type DialogName, KeyActions } from './key/key-actions.tsx'
import type { KeyDialogProps } from './key/key-dialog.ts'
import { OpenHolds } from './key/open-holds.tsx'

const LIVE_MS = 3000

export function KeyPage({ id }: { readonly id: string }) {
  const path = `/keys/${encodeURIComponent(id)}`
  const key = useLoad<KeyDetail>(path, LIVE_MS)
  const grants = useList<GrantShape>(`${path}/grants`, {})
  const events = useList<EventShape>(`${path}/events`, {})
  const requests = useList<RequestLine>('/requests', { key_id: id })
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
            <GraceBanner of={data} onDone={changed} />
            <Facts of={data} />
            <Balance of={data} />
            <Limits of={data} />
            <OpenHolds of={data.holds} />
          </>
        )}
      </Loading>
      <h2>Last requests</h2>
      <Rows
        of={{ ...requests, hasMore: false }}
        caption="Last requests"
        columns={REQUEST_COLUMNS}
        keyOf={(line) => line.request_id}
        empty={<p>This key has made no requests yet.</p>}
      />
      <p>
        <a href={linkTo(['requests'], { key_id: id })}>All requests of this key</a>
      </p>
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
            <Command>{`keys grant ${id} 25`}</Command>
          </>
        }
      />
      <h2>Changes</h2>
      <Rows
        of={events}
        caption="Changes"
        columns={EVENT_COLUMNS}
        keyOf={(event) => event.id}
        empty={<p>No change is on record.</p>}
      />
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

function Facts({ of: key }: { readonly of: KeyDetail }) {
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <code>{key.id}</code> <CopyButton text={() => key.id} what="the key's id" />
      </dd>
      <dt>State</dt>
      <dd>
        <Badge of={key.status} />{' '}
        {key.badges.map((badge) => (
          <Badge key={badge} of={badge} />
        ))}
      </dd>
      <dt>Secret</dt>
      <dd>
        <code>
          {key.prefix}…{key.last_four}
        </code>
      </dd>
      <dt>Last used</dt>
      <dd>
        <Moment at={key.last_used_at} />
      </dd>
      {ASKED_SETTINGS.map((setting) => {
        const { field, label } = SETTING_WORDS[setting]
        return field === 'name' || LIMITS.includes(field) ? null : (
          <Fragment key={field}>
            <dt>{label}</dt>
            <dd>{shown(setting, key[field])}</dd>
          </Fragment>
        )
      })}
      <dt>Created</dt>
      <dd>
        <Moment at={key.created_at} />
      </dd>
    </dl>
  )
}

function shown(setting: Setting, value: unknown) {
  const isTime = SETTING_WORDS[setting].kind === 'moment' && typeof value === 'string'
  return isTime ? <Moment at={value} /> : shownText(setting, value)
}

function Balance({ of: key }: { readonly of: KeyDetail }) {
  return (
    <>
      <h2>Credits</h2>
      <p class="equation">
        <span>
          <Credits of={key.granted} /> granted
        </span>{' '}
        ={' '}
        <span>
          <Credits of={key.available} /> available
        </span>{' '}
        +{' '}
        <span>
          <Credits of={key.held} /> held
        </span>{' '}
        +{' '}
        <span>
          <Credits of={key.spent} /> spent
        </span>
      </p>
    </>
  )
}

/** Settings that are shown beside their use. */
const LIMITS: readonly SettingField[] = ['rpm', 'daily_limit', 'max_concurrent']

function Limits({ of: { minute, day, requests_open, max_concurrent } }: { readonly of: KeyDetail }) {
  return (
    <>
      <h2>Limits, now</h2>
      <Gauge
        name="This minute"
        used={minute.limit - minute.remaining}
        limit={minute.limit}
        remark={`full again in ${minute.reset_seconds} s`}
      />
      <Gauge name="Today (UTC)" used={day.limit - day.remaining} limit={day.limit} />
      <Gauge name="At once" used={requests_open} limit={max_concurrent} />
    </>
  )
}

const GRANT_COLUMNS: readonly Column<GrantShape>[] = [
  cell('When', (grant) => <Moment at={grant.granted_at} />),
  credits('Credits', (grant) => grant.credits),
  cell('By', (grant) => grant.by, 'wide'),
]

const EVENT_COLUMNS = eventColumns()

type Props = { readonly name: string; readonly used: number; readonly limit: number; readonly remark?: string }

/** The used part of a limit. */
function Gauge({ name, used, limit, remark }: Props) {
  return (
    <div class="gauge">
      <span class="gauge-name">{name}</span>
      <meter aria-label={name} min={0} max={Math.max(limit, 1)} high={limit * 0.8} optimum={0} value={used} />
      <span class="number">
        {used.toLocaleString('en-US')} of {limit.toLocaleString('en-US')}
      </span>
      {remark && <span class="quiet">{remark}</span>}
    </div>
  )
}
