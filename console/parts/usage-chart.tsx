import type { ComponentChildren } from 'preact'
import type { UsageNumbers, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { zone } from '../preferences.ts'
import { type PageUrl, type Query, queryText } from '../router.ts'
import { Chart, type ChartProps, type Series } from './chart.tsx'
import { Segments } from './controls.tsx'
import { counted, sumCredits, sumOf } from './numbers.ts'
import { Panel } from './page.tsx'
import { Credits, useNow, zonedText } from './values.tsx'

type Times<Point> = ChartProps<Point> & {
  readonly isByHour: boolean
  /** From the start of the first bucket to the end of the last. */
  readonly onPick?: ((from: string, to: string) => void) | undefined
}

export function TimeChart<Point extends { readonly start_time: string; readonly end_time?: string }>({
  isByHour,
  onPick,
  ...chart
}: Times<Point>) {
  const isUtc = zone.use() === 'utc'
  const nameOf = ({ start_time: start }: Point) =>
    isByHour ? zonedText(start, isUtc).slice(11, 16) : start.slice(5, 10)
  const picked = (first: number, last: number) =>
    onPick?.(chart.points[first]?.start_time ?? '', chart.points[last]?.end_time ?? '')
  const isCounting = Date.parse(chart.points.at(-1)?.end_time ?? '') > useNow(MINUTE_MS)
  return <Chart {...chart} isCounting={isCounting} nameOf={nameOf} onPick={onPick && picked} />
}

const METRICS = {
  cost: { name: 'Charged', unit: 'credits', of: ({ cost }: UsageNumbers) => Number(cost) },
  margin: { name: 'Margin', unit: 'credits', of: ({ margin }: UsageNumbers) => Number(margin) },
  requests: { name: 'Requests', unit: 'requests', of: ({ requests }: UsageNumbers) => requests },
  tokens: {
    name: 'Tokens',
    unit: 'tokens',
    of: ({ prompt_tokens, completion_tokens }: UsageNumbers) => prompt_tokens + completion_tokens,
  },
  errors: { name: 'Errors', unit: 'requests', of: ({ requests, completed }: UsageNumbers) => requests - completed },
} as const
type MetricName = keyof typeof METRICS

/** The number that can be told apart by their colour; the rest is one. */
const COLOURS = 7
/** A chart tells no more groups apart, so the server adds up the others. */
export const chartPath = (query: Query) => `/usage?${queryText({ ...query, top: COLOURS })}`
export const colourOf = (place: number) => `c${Math.min(place, COLOURS)}`

type Props = Pick<Times<unknown>, 'isByHour' | 'onPick'> & {
  readonly title: string
  readonly page: UsagePage
  /** The address has the metric. */
  readonly url: PageUrl
  readonly beside?: ComponentChildren
  readonly latency?: ((buckets: UsagePage['data']) => ComponentChildren) | undefined
}

export function UsageChart({ title, page, url, beside, latency, ...times }: Props) {
  const chosen = url.query.get('metric') ?? ''
  const isLatency = latency !== undefined && chosen === 'latency'
  const metric = Object.hasOwn(METRICS, chosen) ? (chosen as MetricName) : 'cost'
  const { name, unit } = METRICS[metric]
  const heading = isLatency ? 'First token' : `${name} ${title}`
  const options = Object.entries(METRICS).map(([option, { name: text }]) => [option, text] as const)
  return (
    <Panel
      title={heading}
      beside={
        <>
          {beside}
          <Segments
            label="Metric"
            options={latency ? [...options, ['latency', 'Latency']] : options}
            value={isLatency ? 'latency' : metric}
            url={url}
            name="metric"
          />
        </>
      }
    >
      {isLatency ? (
        latency(page.data)
      ) : (
        <TimeChart
          caption={heading}
          unit={unit}
          points={page.data}
          series={seriesOf(page, metric)}
          totalOf={({ results }) => told(results, metric)}
          {...times}
        />
      )}
    </Panel>
  )
}

type Bucket = UsagePage['data'][number]

function seriesOf({ groups, group_by }: UsagePage, metric: MetricName): Series<Bucket>[] {
  // Days stand beside one another already.
  const colours = group_by === 'day' ? 0 : COLOURS
  const places = new Map(groups.map(({ group }, i) => [group, Math.min(i, colours)]))
  const names = group_by === 'day' ? ['all'] : groups.slice(0, COLOURS).map(labelOf)
  if (groups.length > COLOURS && group_by !== 'day') names.push('others')
  return names.map((label, place) => {
    const own = ({ results }: Bucket) => results.filter(({ group }) => (places.get(group) ?? colours) === place)
    return {
      label,
      colour: colourOf(place),
      of: (bucket) => sumOf(own(bucket), METRICS[metric].of),
      told: (bucket) => told(own(bucket), metric),
    }
  })
}

/** Requests that were refused before they named a model or a provider are a group, too. */
export function labelOf({ group, label }: { readonly group: string; readonly label: string }): string {
  return group === '-' ? 'none' : label
}

function told(some: readonly UsageNumbers[], metric: MetricName) {
  if (metric === 'cost' || metric === 'margin') return <Credits of={sumCredits(some.map((one) => one[metric]))} />
  return counted(sumOf(some, METRICS[metric].of))
}
