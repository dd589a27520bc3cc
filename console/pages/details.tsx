import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AccountDetail } from '../../layers/admin/api/shapes/accounts.ts'
import type { RotateBody } from '../../layers/admin/api/shapes/bodies.ts'
import type { HoldShape, KeyDetail, KeyShape, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { ask, pathOf, post } from '../api.ts'
import { announce, Select } from '../parts/controls.tsx'
import { ActDialog, useNewSecret } from '../parts/dialog.tsx'
import { NamePicker } from '../parts/filters.tsx'
import { counted, countOf, shortAmount } from '../parts/numbers.ts'
import { Empty, Panel, Share } from '../parts/page.tsx'
import { type Column, cell, credits, extra, name, number, Table } from '../parts/table.tsx'
import { Badge, Credits, Moment, NameLink, RequestLink, useNow } from '../parts/values.tsx'
import type { PageUrl } from '../router.ts'
import { type Act, ActButton, type DialogProps, EditSettings, GrantCredits, pausing, plain } from './detail/dialogs.tsx'
import { DAYS, DetailPage, useUsage } from './detail/page.tsx'
import { CreateKey } from './keys/acts.tsx'

function AccountPage({ url }: { readonly url: PageUrl }) {
  return (
    <DetailPage<AccountDetail>
      url={url}
      word="customer"
      acts={CUSTOMER_ACTS}
      groups={['model', 'key']}
      use={({ keys }) => [keys.map(lastUse).sort().at(-1) || null, countOf(keys.length, 'key')]}
      below={(account) => <Keys of={account} />}
    />
  )
}

type Key = AccountDetail['keys'][number]

const lastUse = ({ last_used_at }: Key) => last_used_at ?? ''

function Keys({ of: { id, keys } }: { readonly of: AccountDetail }) {
  const { data } = useUsage(id, 'key')
  const used = new Map(data?.groups.map((group) => [group.group, group]))
  const columns: readonly Column<Key>[] = [
    { ...name('Name', (key) => <NameLink id={key.id} name={key.name} />), class: 'fill' },
    cell('State', (key) => <Badge of={key.status} />),
    number(`Charged in ${DAYS} days`, (key) => [
      <Credits of={used.get(key.id)?.cost ?? '0'} />,
      <Share of={(used.get(key.id)?.share ?? 0) / 1000} />,
    ]),
    number('Requests', (key) => counted(used.get(key.id)?.requests ?? 0)),
    extra(credits('Spent in all', (key) => key.spent)),
    credits('With it', (key) => key.available),
    extra(credits('Held', (key) => key.held)),
    cell('Last used', (key) => <Moment at={key.last_used_at} isBrief />),
    extra(cell('Ends in', (key) => <code>…{key.last_four}</code>)),
  ]
  return (
    <Panel title="Keys" class="apart">
      {keys.length > 0 && <Table caption="Keys" columns={columns} rows={keys} by="id" />}
      {keys.length === 0 && (
        <Empty>
          It has no key yet. <strong>Add key</strong> makes one that uses its balance.
        </Empty>
      )}
    </Panel>
  )
}

type Props = DialogProps<AccountDetail>

const CUSTOMER_ACTS: readonly Act<AccountDetail>[] = [
  { button: 'Grant credits', class: 'primary', Form: GrantCredits },
  { button: 'Add key', Form: AddKey },
  { button: 'Change settings', Form: EditSettings },
  { button: 'Adopt a key', isOffered: ({ status }) => status === 'active', Form: AdoptKey },
  ...pausing<AccountDetail>(({ keys }) => `its ${countOf(keys.length, 'key')}`),
  plain({
    button: 'Close',
    path: 'close',
    class: 'danger',
    isConfirmed: true,
    about: ({ keys, available }) =>
      `Its keys (${keys.length}) are revoked, and nothing brings it or them back. ${shortAmount(available)} credits are left, which nobody can use then.`,
  }),
]

const again = ({ of, onDone }: Props) => ask<AccountDetail>(pathOf(of.id)).then(onDone)

function AddKey(props: Props) {
  return <CreateKey account={props.of} onCreated={() => void again(props)} onClose={props.onClose} />
}

function AdoptKey(props: Props) {
  const { of: account, onClose } = props
  const [key, setKey] = useState<KeyShape | null>(null)
  const adopt = async (idempotencyKey: string) => {
    if (!key) return
    await post(`${pathOf(key.id)}/adopt`, idempotencyKey, { account: account.id })
    announce(`${key.name} is a key of ${account.name} now.`)
    await again(props)
  }
  return (
    <ActDialog
      title={`Adopt a key for ${account.name}`}
      verb="Adopt"
      isReady={key !== null}
      onAct={adopt}
      onClose={onClose}
    >
      <p>
        A key with a balance of its own becomes a key of {account.name}, which gets that balance
        {key && `: ${shortAmount(key.available)} credits`}. The key’s secret, limits and requests stay. It cannot leave
        again.
      </p>
      <NamePicker
        filter="key_id"
        value={key?.name}
        onChoose={setKey}
        isOffered={({ account_id, status }) => account_id === null && status !== 'revoked'}
      />
    </ActDialog>
  )
}

function KeyPage({ url }: { readonly url: PageUrl }) {
  return (
    <DetailPage<KeyDetail>
      url={url}
      word="key"
      acts={KEY_ACTS}
      groups={['model']}
      use={({ last_used_at, calls_today, requests_open }) => [
        last_used_at,
        `${countOf(calls_today, 'call')} today, ${counted(requests_open)} under way`,
      ]}
      above={(key, onDone) => [
        key.account_suspended && (
          <p class="notice warn">
            It is suspended with its customer <NameLink id={key.account_id} name={key.account_name} />, who must be
            resumed first.
          </p>
        ),
        <GraceBanner of={key} onDone={onDone} />,
      ]}
      beside={(key) => <Limits of={key} />}
      below={({ holds }) =>
        holds.length > 0 && (
          <Panel title="Open holds" class="apart">
            <Table caption="Open holds" columns={HOLDS} rows={holds} by="request_id" />
          </Panel>
        )
      }
    />
  )
}

const HOLDS: readonly Column<HoldShape>[] = [
  name('Request', (hold) => <RequestLink id={hold.request_id} />),
  credits('Held', (hold) => hold.amount),
  cell('Until', (hold) => <Moment at={hold.until} isBrief isEnd />),
  cell('State', (hold) => (hold.expired ? 'dead: the sweep gives it back' : <Badge of="open" />)),
]

function GraceBanner({ of: key, onDone }: { readonly of: KeyDetail; readonly onDone: (now: KeyDetail) => void }) {
  if (!key.previous) return null
  const { last_four, expires_at } = key.previous
  return (
    <section class="notice warn" aria-label="The old secret">
      <p>
        The old secret <code>…{last_four}</code> works for another <Countdown to={expires_at} />. <OldUse of={key} />
      </p>
      <ActButton act={END_GRACE} of={key} onDone={onDone} />
    </section>
  )
}

function OldUse({ of: { previous } }: { readonly of: KeyDetail }) {
  if (!previous?.last_used_at) return <strong>Nobody has used it since the rotation.</strong>
  return [<strong>It is still in use:</strong>, ' last ', <Moment at={previous.last_used_at} />, '.']
}

/** The time left until a moment, second by second. Hidden from screen readers, which would read it without end. */
function Countdown({ to }: { readonly to: string }) {
  const leftMs = Math.max(0, Date.parse(to) - useNow(1000))
  return (
    <span class="number" role="timer" aria-live="off">
      {new Date(leftMs).toISOString().slice(14, 19)}
    </span>
  )
}

const labelOf = (field: string) => Object.values(SETTING_WORDS).find((words) => words.field === field)?.label ?? field

function Limits({ of: key }: { readonly of: KeyDetail }) {
  const { minute, day, tokens, requests_open, max_concurrent, credit_windows } = key
  return [
    <h2>Limits, now</h2>,
    <div class="inside gauges">
      <Gauge name="This minute" used={minute.limit - minute.remaining} limit={minute.limit} />
      <Gauge name="Today (UTC)" used={day.limit - day.remaining} limit={day.limit} />
      <Gauge name="Concurrent" used={requests_open} limit={max_concurrent} />
      {tokens && <Gauge name={labelOf('tpm')} used={tokens.limit - tokens.remaining} limit={tokens.limit} />}
      {credit_windows.map(({ setting, limit, remaining }) => (
        <Gauge
          key={setting}
          name={labelOf(setting)}
          used={Number(limit) - Number(remaining)}
          limit={Number(limit)}
          amounts={[<Credits of={remaining} />, ' of ', <Credits of={limit} />, ' left']}
        />
      ))}
    </div>,
  ]
}

type GaugeProps = {
  readonly name: string
  readonly used: number
  readonly limit: number
  readonly amounts?: ComponentChildren
}

function Gauge({ name, used, limit, amounts }: GaugeProps) {
  const colour = used >= limit * 0.95 ? 'c4' : used >= limit * 0.8 ? 'c2' : 'c0'
  return (
    <div class="row wrap between gauge">
      <span>{name}</span>
      <span class="number">{amounts ?? `${counted(used)} of ${counted(limit)}`}</span>
      <Share of={used / Math.max(limit, 1)} colour={colour} label={name} />
    </div>
  )
}

const KEY_ACTS: readonly Act<KeyDetail>[] = [
  { button: 'Grant credits', class: 'primary', isOffered: ({ account_id }) => account_id === null, Form: GrantCredits },
  { button: 'Change settings', Form: EditSettings },
  { button: 'Rotate', Form: RotateKey },
  ...pausing<KeyDetail>(() => 'it'),
  plain({
    button: 'Revoke',
    path: 'revoke',
    class: 'danger',
    isConfirmed: true,
    about: () => 'Every request with it is refused from now on, and nothing brings the key back.',
  }),
]

const END_GRACE = plain<KeyDetail>({
  button: 'End now',
  path: 'end-grace',
  title: (name) => `End the old secret of ${name}?`,
  about: (key) => [<OldUse of={key} />, ' Who uses it is refused from the next request on.'],
})

const GRACES = [
  ['3600', 'for an hour'],
  ['900', 'for 15 minutes'],
  ['60', 'for a minute'],
  ['0', 'not at all: it ends now'],
] as const

function RotateKey({ of: key, onDone, onClose }: DialogProps<KeyDetail>) {
  const [grace, setGrace] = useState('3600')
  const withSecret = useNewSecret()
  const rotate = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const body: RotateBody = { grace_seconds: Number(grace), ...told }
      const now = await post<KeyWithSecret>(`${pathOf(key.id)}/rotate`, idempotencyKey, body)
      onDone(now)
      announce(`${key.name} has a new secret.`)
      return now
    })
  const label = `The old one (…${key.last_four}) goes on working`
  return (
    <ActDialog title={`Rotate ${key.name}`} verb="Rotate" onAct={rotate} onClose={onClose}>
      <p>The key gets a new secret, which is shown once.</p>
      <Select label={label} value={grace} onChange={setGrace} options={GRACES} />
      {key.previous && (
        <p class="notice warn">
          The secret before it (…{key.previous.last_four}) is still in its grace period. It ends with this rotation.
        </p>
      )}
    </ActDialog>
  )
}

export const PAGES = { 'accounts/': AccountPage, 'keys/': KeyPage }
