import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { UsageNumbers, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { useZone, type Zone } from '../preferences.ts'
import { Chart, type Series } from './chart.tsx'
import { Credits } from './credits.tsx'
import { counted } from './numbers.ts'
import { Panel } from './panel.tsx'

const METRICS = {
  cost: { name: 'Charged', unit: 'credits' },
  margin: { name: 'Margin', unit: 'credits' },
  requests: { name: 'Requests', unit: 'requests' },
  tokens: { name: 'Tokens', unit: 'tokens' },
  errors: { name: 'Errors', unit: 'requests' },
} as const
type MetricName = keyof typeof METRICS

/** As many as can be told apart by their colour; the rest is one. */
const COLOURS = 7
export const colourOf = (place: number) => `c${Math.min(place, COLOURS)}`

type Props = {
  readonly title: string
  readonly page: UsagePage
  readonly isByHour: boolean
  /** From the start of the first bucket to the end of the last. */
  readonly onPick?: (from: string, to: string) => void
  /** The metric that an address has, and its change; without it the chart keeps its own. */
  readonly metric?: string
  readonly onMetric?: (metric: string) => void
  /** A chart of times, which are not in the page. */
  readonly latency?: (() => ComponentChildren) | undefined
}

/** Usage over time, stacked by group. */
export function UsageChart({ title, page, isByHour, onPick, metric: given, onMetric, latency }: Props) {
  const [own, setOwn] = useState('cost')
  const zone = useZone()
  const chosen = given ?? own
  const isLatency = latency !== undefined && chosen === 'latency'
  const metric = isMetric(chosen) ? chosen : 'cost'
  const { name, unit } = METRICS[metric]
  const heading = isLatency ? 'First token' : `${name} ${title}`
  const switched = (option: string, text: string) => (
    <button
      key={option}
      type="button"
      aria-pressed={option === (isLatency ? 'latency' : metric)}
      onClick={() => (onMetric ?? setOwn)(option)}
    >
      {text}
    </button>
  )
  return (
    <Panel
      title={heading}
      beside={
        <div class="segments">
          {Object.entries(METRICS).map(([option, { name: text }]) => switched(option, text))}
          {latency && switched('latency', 'Latency')}
        </div>
      }
    >
      {isLatency ? (
        latency()
      ) : (
        <Chart
          caption={heading}
          unit={unit}
          moments={page.data.map(({ start_time }) => momentText(start_time, isByHour, zone))}
          series={seriesOf(page, metric)}
          isCounting={page.data.at(-1)?.closed === false}
          {...(onPick && { onPick: (first: number, last: number) => onPick(...spanOf(page, first, last)) })}
        />
      )}
    </Panel>
  )
}

function isMetric(text: string): text is MetricName {
  return Object.hasOwn(METRICS, text)
}

export function spanOf({ data }: UsagePage, first: number, last: number): [from: string, to: string] {
  return [data[first]?.start_time ?? '', data[last]?.end_time ?? '']
}

function seriesOf({ data, groups }: UsagePage, metric: MetricName): Series[] {
  const places = new Map(groups.map(({ group }, i) => [group, Math.min(i, COLOURS)]))
  const names = groups.slice(0, COLOURS).map(labelOf)
  if (groups.length > COLOURS) names.push('others')
  return names.map((label, place) => {
    const each = data.map(({ results }) => results.filter(({ group }) => (places.get(group) ?? COLOURS) === place))
    return {
      label,
      colour: colourOf(place),
      values: each.map((some) => some.reduce((sum, numbers) => sum + numberOf(numbers, metric), 0)),
      told: each.map((some) => told(some, metric)),
    }
  })
}

/** Calls that no model or provider was asked for are a group, too. */
export function labelOf({ group, label }: { readonly group: string; readonly label: string }): string {
  return group === '-' ? 'none' : label
}

function isAmount(metric: MetricName): metric is 'cost' | 'margin' {
  return metric === 'cost' || metric === 'margin'
}

function numberOf(numbers: UsageNumbers, metric: MetricName): number {
  if (isAmount(metric)) return Number(numbers[metric])
  if (metric === 'requests') return numbers.requests
  if (metric === 'tokens') return numbers.prompt_tokens + numbers.completion_tokens
  return numbers.refused + numbers.failed
}

/** An amount is told as the server wrote it; several of them only roughly, as the height of their bar. */
function told(some: readonly UsageNumbers[], metric: MetricName) {
  const [one, ...others] = some
  if (isAmount(metric) && one && others.length === 0) return <Credits of={one[metric]} />
  const sum = some.reduce((before, numbers) => before + numberOf(numbers, metric), 0)
  return isAmount(metric) ? `about ${sum.toPrecision(3)}` : counted(sum)
}

/** An hour in the chosen zone; a day is a UTC day. */
export function momentText(start: string, isByHour: boolean, zone: Zone): string {
  if (!isByHour) return start.slice(5, 10)
  if (zone === 'utc') return start.slice(11, 16)
  const time = new Date(start)
  return `${String(time.getHours()).padStart(2, '0')}:${String(time.getMinutes()).padStart(2, '0')}`
}
