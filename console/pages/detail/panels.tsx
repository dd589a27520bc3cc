import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { shownText } from '../../../layers/admin/settings/setting-texts.ts'
import { MINUTE_MS } from '../../../layers/gateway/domain/basics/time.ts'
import { counted, lastsText, sumOf } from '../../parts/numbers.ts'
import { Facts, LeftBar, Metric, Panel } from '../../parts/page.tsx'
import { Credits, Moment, NameLink, useNow } from '../../parts/values.tsx'
import { filterOf, linkTo } from '../../router.ts'
import { type Detail, formOf } from './dialogs.tsx'

export const DAYS = 30

/** The balance of such a key is that of its customer, to whom credits are granted. */
export function isShared(of: Detail): of is KeyDetail & { readonly account_id: string } {
  return of.object === 'key' && of.account_id !== null
}

export type Use = readonly [lastUsedAt: string | null, use: string]

type BalanceProps = { readonly of: Detail; readonly usage: UsagePage | undefined; readonly use: Use }

export function Balance({ of, usage, use: [lastUsedAt, use] }: BalanceProps) {
  const now = useNow(MINUTE_MS)
  const query = { ...filterOf(of.id), range: `${DAYS}d` }
  const days = usage?.data ?? []
  const charges = days.map(({ start_time: day, results }) => ({ day, cost: sumOf(results, (one) => Number(one.cost)) }))
  return (
    <div class="metrics">
      <Metric
        name="Balance"
        class="balance"
        value={
          isShared(of) ? <NameLink id={of.account_id} name={of.account_name} /> : <Credits of={of.available} withUnit />
        }
      >
        {isShared(of)
          ? [
              <p>Its balance is that of {of.account_name}.</p>,
              <p class="quiet">
                {part(of.available, 'with this key')}, {part(of.held, 'held')}, {part(of.spent, 'spent by it')}
              </p>,
            ]
          : [
              <LeftBar of={of} />,
              <p>{usage ? lastsText(of.available, charges, now) : 'Loading…'}</p>,
              <p class="quiet">
                {part(of.granted, 'granted')} = {part(of.available, 'available')} + {part(of.held, 'held')} +{' '}
                {part(of.spent, 'spent')}
              </p>,
            ]}
        {of.object === 'account' && (
          <p class="quiet">
            {part(of.available, 'available')} = {part(of.in_pool, 'with no key')} + {part(of.in_keys, 'with its keys')}{' '}
            + {part(of.in_flight, 'on the way')}
          </p>
        )}
        {of.object === 'key' && of.loss_today !== '0' && (
          <p title="What its requests may have cost beyond their charges">
            Lost today: <Credits of={of.loss_today} />
          </p>
        )}
      </Metric>
      <Metric
        name={`Charged in ${DAYS} days`}
        value={usage ? <Credits of={usage.total.cost} withUnit /> : '–'}
        href={linkTo(['usage'], query)}
        shape={{ of: charges.map(({ cost }) => cost), colour: 'c0' }}
      />
      <Metric
        name={`Requests in ${DAYS} days`}
        value={usage ? counted(usage.total.requests) : '–'}
        href={linkTo(['requests'], query)}
        shape={{ of: days.map(({ results }) => sumOf(results, (group) => group.requests)), colour: 'c1' }}
      >
        <p class="quiet">
          Last used <Moment at={lastUsedAt} isBrief />, {use}
        </p>
      </Metric>
    </div>
  )
}

function part(amount: string, name: string) {
  return (
    <span class="number">
      <Credits of={amount} /> {name}
    </span>
  )
}

/** The name is the title, and limits are shown beside their use. */
const SHOWN_ELSEWHERE = ['name', 'rpm', 'daily_limit', 'max_concurrent']

export function Settings({ of }: { readonly of: Detail }) {
  const told = formOf(of).filter(({ field }) => !SHOWN_ELSEWHERE.includes(field))
  const facts = told.map((row) => {
    const value = (of as Readonly<Record<string, unknown>>)[row.field]
    const isMoment = row.kind === 'moment' && value
    return [row.label, isMoment ? <Moment at={String(value)} isEnd /> : shownText(row, value)] as const
  })
  const secret = of.object === 'key' && <code>{`${of.prefix}…${of.last_four}`}</code>
  return (
    <Panel title="Settings" class="apart">
      <Facts of={[...facts, ['Secret', secret], ['Created', <Moment at={of.created_at} isBrief />]]} />
    </Panel>
  )
}
