import { useState } from 'preact/hooks'
import type { AccountDetail } from '../../layers/admin/api/shapes/accounts.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { ask, pathOf, post } from '../api.ts'
import { announce } from '../parts/controls.tsx'
import { ActDialog } from '../parts/dialog.tsx'
import { NamePicker } from '../parts/filters.tsx'
import { counted, countOf, shortAmount } from '../parts/numbers.ts'
import { Empty, Panel, Share } from '../parts/page.tsx'
import { type Column, cell, credits, extra, name, number, Table } from '../parts/table.tsx'
import { Badge, Credits, Moment, NameLink } from '../parts/values.tsx'
import type { PageUrl } from '../router.ts'
import { type Act, type DialogProps, EditSettings, GrantCredits, pausing, plain } from './detail/dialogs.tsx'
import { DetailPage, useUsage } from './detail/page.tsx'
import { DAYS } from './detail/panels.tsx'
import { CreateKey } from './keys/acts.tsx'

export function AccountPage({ url }: { readonly url: PageUrl }) {
  return (
    <DetailPage<AccountDetail>
      url={url}
      word="customer"
      acts={ACTS}
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
      {keys.length > 0 ? (
        <Table caption="Keys" columns={columns} rows={keys} by="id" />
      ) : (
        <Empty>
          It has no key yet. <strong>Add key</strong> makes one that uses its balance.
        </Empty>
      )}
    </Panel>
  )
}

type Props = DialogProps<AccountDetail>

const ACTS: readonly Act<AccountDetail>[] = [
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

/** The customer as it is after a change of its keys. */
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
