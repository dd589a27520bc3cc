import type { ComponentChildren } from 'preact'
import type { Overview as OverviewShape, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { RangePicker } from '../parts/filters.tsx'
import { counted, durationText } from '../parts/numbers.ts'
import { Loading, Metric, Page } from '../parts/page.tsx'
import { rangeOf, rangeQuery } from '../parts/ranges.ts'
import { chartPath, UsageChart } from '../parts/usage-chart.tsx'
import { useLive } from '../parts/use-load.ts'
import { Credits, useNow } from '../parts/values.tsx'
import { go, linkTo, type PageUrl, type Query, queryText } from '../router.ts'
import { Attention, Books, FirstSteps, isNew, Low, Providers, Top } from './overview/panels.tsx'

const POLL_MS = 30_000
const NEW_POLL_MS = 3_000

export function Overview({ url }: { readonly url: PageUrl }) {
  // The beginning of a range moves with the time, though not with every drawing.
  const nowMs = Math.floor(useNow(10 * MINUTE_MS) / MINUTE_MS) * MINUTE_MS
  const range = rangeOf(url, nowMs)
  const { from, to, isByHour } = range
  const query = rangeQuery(range)
  const paceOf = (data?: OverviewShape) => (data && isNew(data) ? NEW_POLL_MS : POLL_MS)
  const overview = useLive(`/overview?${queryText({ from, to })}`, paceOf)
  // The chart loads by itself, so that the numbers above do not wait for it.
  const asked = { bucket: isByHour ? '1h' : '1d', group_by: 'model', from, to }
  const usage = useLive<UsagePage>(chartPath(asked), POLL_MS)
  return (
    <Page title="Overview" actions={<RangePicker url={url} range={range} />}>
      <Loading of={overview}>
        {(data) => [
          <FirstSteps of={data} />,
          <Attention of={data} />,
          <Metrics of={data} query={query} stepMs={isByHour ? HOUR_MS : DAY_MS} />,
          <div class="two">
            <div class="stack">
              <Loading of={usage}>
                {(page) => (
                  <UsageChart
                    title="by model"
                    page={page}
                    url={url}
                    isByHour={isByHour}
                    onPick={(first, end) => go(['requests'], { from: first, to: end })}
                  />
                )}
              </Loading>
              <Providers of={data} />
            </div>
            <div class="stack">
              <div class="panel">
                <Low of={data} />
                <Top title="Top keys" of={data.top_keys} linkOf={(id) => linkTo(['keys', id])} />
              </div>
              <div class="panel">
                <Top
                  title="Top models"
                  of={data.top_models}
                  linkOf={(model) => linkTo(['requests'], { ...query, model })}
                />
                <Books of={data} />
              </div>
            </div>
          </div>,
        ]}
      </Loading>
    </Page>
  )
}

type Numbers = OverviewShape['range']
type Point = OverviewShape['series'][number]

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
/** A share of what was charged for answers whose cost to us is known. */
function marginOf({ margin, upstream_cost }: Numbers | Point): number | null {
  const charged = Number(margin) + Number(upstream_cost)
  return charged > 0 ? (100 * Number(margin)) / charged : null
}
/** An upstream may state any cost, and so make any margin. */
function percent(value: number | null): string {
  if (value === null) return '–'
  return value < -999 ? '< −999 %' : `${value.toFixed(value < 10 ? 2 : 1)} %`
}

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
    of: (numbers) => (
      <span title={`${numbers.margin} credits, where the cost to us is known`}>{percent(marginOf(numbers))}</span>
    ),
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

type MetricsProps = { readonly of: OverviewShape; readonly query: Query; readonly stepMs: number }

function Metrics({ of: { range, before, series }, query, stepMs }: MetricsProps) {
  // Times without requests are left out of the series, and are zero.
  const placeOf = (at: string) => Math.floor(Date.parse(at) / stepMs)
  const first = placeOf(range.from)
  const found = Object.groupBy(series, ({ start_time }) => placeOf(start_time))
  const points = Array.from({ length: placeOf(range.to) - first + 1 }, (_, i) => found[first + i]?.[0])
  return (
    <div class="metrics">
      {Object.entries(METRICS).map(([name, metric]) => (
        <Metric
          key={name}
          name={[name, ' ', <Change of={metric} now={metric.value(range)} before={metric.value(before)} />]}
          value={metric.of(range)}
          href={linkTo([metric.page], { ...query, ...metric.query })}
          shape={{ of: points.map((point) => (point && metric.value(point)) ?? 0), colour: metric.colour ?? 'c0' }}
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
