import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { MINUTE_MS } from '../../../layers/gateway/domain/time.ts'
import { Credits } from '../../parts/credits.tsx'
import { Metric } from '../../parts/metric.tsx'
import { Moment, useNow } from '../../parts/moment.tsx'
import { counted } from '../../parts/numbers.ts'
import { LeftBar } from '../../parts/share.tsx'
import { linkTo } from '../../router.ts'
import { lastsText } from './lasts.ts'

type Props = { readonly of: KeyDetail; readonly usage: UsagePage | undefined; readonly days: number }

const SUM = [
  ['granted', ' = '],
  ['available', ' + '],
  ['held', ' + '],
  ['spent', ''],
] as const

/** The balance, how long it lasts, and what was used of it. */
export function Balance({ of: key, usage, days }: Props) {
  const now = useNow(MINUTE_MS)
  const query = { key_id: key.id, range: `${days}d` }
  return (
    <div class="metrics">
      <Metric name="Balance" value={<Credits of={key.available} withUnit />} class="balance">
        <LeftBar available={key.available} granted={key.granted} />
        <p>{usage ? lastsText(key.available, usage, now) : 'Loading…'}</p>
        <p class="quiet">
          {SUM.map(([part, sign]) => (
            <>
              <span class="number">
                <Credits of={key[part]} /> {part}
              </span>
              {sign}
            </>
          ))}
        </p>
        {key.loss_today !== '0' && (
          <p title="What its requests may have cost beyond their charges">
            Lost today: <Credits of={key.loss_today} />
          </p>
        )}
      </Metric>
      <Metric
        name={`Charged in ${days} days`}
        value={usage ? <Credits of={usage.total.cost} withUnit /> : '–'}
        href={linkTo(['usage'], query)}
        shape={{ of: byDay(usage, ({ cost }) => Number(cost)), colour: 'c0' }}
      />
      <Metric
        name={`Requests in ${days} days`}
        value={usage ? counted(usage.total.requests) : '–'}
        href={linkTo(['requests'], query)}
        shape={{ of: byDay(usage, ({ requests }) => requests), colour: 'c1' }}
      />
      <Metric name="Last used" value={<Moment at={key.last_used_at} isBrief />}>
        <p class="quiet">
          {counted(key.requests_today)} today, {counted(key.requests_open)} under way
        </p>
      </Metric>
    </div>
  )
}

type Group = UsagePage['data'][number]['results'][number]

function byDay(usage: UsagePage | undefined, of: (group: Group) => number): number[] {
  return usage?.data.map(({ results }) => results.reduce((sum, group) => sum + of(group), 0)) ?? []
}
