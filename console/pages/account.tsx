import type { AccountDetail } from '../../layers/admin/api/shapes/accounts.ts'
import { Metric, Share } from '../parts/metric.tsx'
import { counted, countOf } from '../parts/numbers.ts'
import { Empty, Panel } from '../parts/panel.tsx'
import { type Column, cell, credits, name, number, Table } from '../parts/table.tsx'
import { Badge, Credits, Moment, NameLink } from '../parts/values.tsx'
import type { PageUrl } from '../router.ts'
import { ACCOUNT_ACTS } from './account/acts.tsx'
import { DetailPage, useUsage } from './detail/page.tsx'
import { DAYS, Settings } from './detail/panels.tsx'

export function AccountPage({ url }: { readonly url: PageUrl }) {
  return (
    <DetailPage<AccountDetail>
      url={url}
      word="customer"
      acts={ACCOUNT_ACTS}
      groups={['model', 'key']}
      use={({ keys }) => (
        <Metric name="Last used" value={<Moment at={keys.map(lastUse).sort().at(-1) || null} isBrief />}>
          <p class="quiet">{countOf(keys.length, 'key')}</p>
        </Metric>
      )}
      beside={(account) => <Settings of={account} without={['name']} />}
      below={(account) => <Keys of={account} />}
    />
  )
}

type Key = AccountDetail['keys'][number]

const lastUse = ({ last_used_at }: Key) => last_used_at ?? ''

/** With what each was charged. */
function Keys({ of: { id, keys } }: { readonly of: AccountDetail }) {
  const { data } = useUsage(id, 'key')
  const used = new Map(data?.groups.map((group) => [group.group, group]))
  const columns: readonly Column<Key>[] = [
    { ...name('Name', (key) => <NameLink id={key.id} name={key.name} />), class: 'fill' },
    cell('State', (key) => <Badge of={key.status} />),
    number(`Charged in ${DAYS} days`, (key) => (
      <>
        <Credits of={used.get(key.id)?.cost ?? '0'} />
        <Share of={(used.get(key.id)?.share ?? 0) / 1000} />
      </>
    )),
    number('Requests', (key) => counted(used.get(key.id)?.requests ?? 0)),
    credits('Spent in all', (key) => key.spent),
    credits('With it', (key) => key.available),
    credits('Held', (key) => key.held),
    cell('Last used', (key) => <Moment at={key.last_used_at} isBrief />),
    cell('Ends in', (key) => <code>…{key.last_four}</code>),
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
