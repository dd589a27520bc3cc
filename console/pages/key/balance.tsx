import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { MINUTE_MS } from '../../../layers/gateway/domain/time.ts'
import { counted } from '../../parts/counted.ts'
import { Credits } from '../../parts/credits.tsx'
import { LeftBar } from '../../parts/left-bar.tsx'
import { Moment, useNow } from '../../parts/moment.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { linkTo } from '../../router.ts'
import { lastsText } from './lasts.ts'

type Props = { readonly of: KeyDetail; readonly usage: UsagePage | undefined; readonly days: number }

/** The balance, how long it lasts, and what was used of it. */
export function Balance({ of: key, usage, days }: Props) {
  const now = useNow(MINUTE_MS)
  const query = { key_id: key.id, range: `${days}d` }
  return (
    <div class="metrics">
      <div class="metric panel balance">
        <span class="metric-head">Balance</span>
        <strong>
          <Credits of={key.available} withUnit />
        </strong>
        <LeftBar available={key.available} granted={key.granted} />
        <p>{usage ? lastsText(key.available, usage, now) : 'Loading…'}</p>
        <p class="quiet">
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
        {key.loss_today !== '0' && (
          <p title="What its requests may have cost beyond their charges">
            Lost today: <Credits of={key.loss_today} />
          </p>
        )}
      </div>
      <a class="metric panel" href={linkTo(['usage'], query)}>
        <span class="metric-head">Charged in {days} days</span>
        <strong>{usage ? <Credits of={usage.total.cost} withUnit /> : '–'}</strong>
        <Sparkline of={byDay(usage, ({ cost }) => Number(cost))} colour="c0" />
      </a>
      <a class="metric panel" href={linkTo(['requests'], query)}>
        <span class="metric-head">Requests in {days} days</span>
        <strong>{usage ? counted(usage.total.requests) : '–'}</strong>
        <Sparkline of={byDay(usage, ({ requests }) => requests)} colour="c1" />
      </a>
      <div class="metric panel">
        <span class="metric-head">Last used</span>
        <strong>
          <Moment at={key.last_used_at} isBrief />
        </strong>
        <p class="quiet">
          {counted(key.requests_today)} today, {counted(key.requests_open)} under way
        </p>
      </div>
    </div>
  )
}

type Group = UsagePage['data'][number]['results'][number]

function byDay(usage: UsagePage | undefined, of: (group: Group) => number): number[] {
  return usage?.data.map(({ results }) => results.reduce((sum, group) => sum + of(group), 0)) ?? []
}
