import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { counted, durationText } from '../../parts/numbers.ts'
import { Metric } from '../../parts/page.tsx'
import { Credits } from '../../parts/values.tsx'
import { linkTo, type Query } from '../../router.ts'

type Numbers = Overview['range']
type Point = Overview['series'][number]

type Shown = {
  readonly colour?: string
  readonly page: string
  readonly query?: Query
  readonly of: (numbers: Numbers) => ComponentChildren
  readonly value: (numbers: Numbers | Point) => number | null
  /** It is a share, whose change is told in points; that of others is told in percent. */
  readonly isShare?: boolean
  readonly isBetterIfLess?: boolean
  readonly parts?: (numbers: Numbers) => string
}

const rateOf = ({ requests, errors }: Numbers | Point) => (requests > 0 ? (100 * errors) / requests : null)
const marginOf = ({ cost, margin }: Numbers | Point) =>
  Number(cost) > 0 ? (100 * Number(margin)) / Number(cost) : null
const percent = (value: number | null) => (value === null ? '–' : `${value.toFixed(value < 10 ? 2 : 1)} %`)

const METRICS: Readonly<Record<string, Shown>> = {
  Requests: { page: 'requests', of: ({ requests }) => counted(requests), value: ({ requests }) => requests },
  'Error rate': {
    colour: 'c4',
    page: 'requests',
    query: { status: 'error' },
    of: (numbers) => percent(rateOf(numbers)),
    value: rateOf,
    isShare: true,
    isBetterIfLess: true,
    parts: ({ requests, refused, failed, broken }) =>
      Object.entries({ refused, 'providers failed': failed, 'we failed': broken })
        .map(([what, count]) => `${what} ${percent(requests > 0 ? (100 * count) / requests : null)}`)
        .join(', '),
  },
  'Charged, credits': { page: 'usage', of: ({ cost }) => <Credits of={cost} />, value: ({ cost }) => Number(cost) },
  Margin: {
    colour: 'c1',
    page: 'usage',
    query: { metric: 'margin' },
    of: (numbers) => <span title={`${numbers.margin} credits`}>{percent(marginOf(numbers))}</span>,
    value: marginOf,
    isShare: true,
  },
  'First token, p95': {
    colour: 'c3',
    page: 'routes',
    of: ({ first_token_ms: { p50, p95 } }) => [
      p95 === null ? '–' : durationText(p95),
      p95 !== null && p50 !== null && <small> p50 {durationText(p50)}</small>,
    ],
    value: ({ first_token_ms: { p95 } }) => p95,
    isBetterIfLess: true,
  },
}

export function Metrics({ of: { range, before, series }, query }: { readonly of: Overview; readonly query: Query }) {
  return (
    <div class="metrics">
      {Object.entries(METRICS).map(([name, metric]) => (
        <Metric
          key={name}
          name={[name, ' ', <Change of={metric} now={metric.value(range)} before={metric.value(before)} />]}
          value={metric.of(range)}
          href={linkTo([metric.page], { ...query, ...metric.query })}
          shape={{ of: series.map((point) => metric.value(point) ?? 0), colour: metric.colour ?? 'c0' }}
        >
          {metric.parts && <small class="quiet">{metric.parts(range)}</small>}
        </Metric>
      ))}
    </div>
  )
}

type ChangeProps = { readonly of: Shown; readonly now: number | null; readonly before: number | null }

function Change({ of: { isShare, isBetterIfLess = false }, now, before }: ChangeProps) {
  if (now === null || before === null || before === 0) return null
  const change = isShare ? (now - before).toFixed(1) : (100 * (now / before - 1)).toFixed(0)
  if (Number(change) === 0) return null
  const isGood = now < before === isBetterIfLess
  return (
    <span class={isGood ? 'good-text' : 'bad-text'} title="Against the range before">
      {change.startsWith('-') ? `−${change.slice(1)}` : `+${change}`} {isShare ? 'pt' : '%'}
    </span>
  )
}
