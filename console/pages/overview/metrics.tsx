import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { Metric } from '../../parts/metric.tsx'
import { counted, durationText } from '../../parts/numbers.ts'
import { Credits } from '../../parts/values.tsx'
import { linkTo, type Query } from '../../router.ts'

type Numbers = Overview['range']
type Point = Overview['series'][number]

type Shown = {
  readonly name: string
  readonly colour: string
  readonly page: string
  readonly query?: Query
  readonly of: (numbers: Numbers) => ComponentChildren
  /** Its shape and its change are drawn of it. */
  readonly value: (numbers: Numbers | Point) => number | null
  /** The change in words; by default in percent. */
  readonly change?: (now: number, before: number) => string
  readonly isBetter: 'more' | 'less'
}

const rateOf = ({ requests, errors }: Numbers | Point) => (requests > 0 ? (100 * errors) / requests : null)
const marginOf = ({ cost, margin }: Numbers | Point) =>
  Number(cost) > 0 ? (100 * Number(margin)) / Number(cost) : null
const points = (now: number, before: number) => `${signed((now - before).toFixed(1))} pt`
const percent = (value: number | null) => (value === null ? '–' : `${value.toFixed(value < 10 ? 2 : 1)} %`)

const METRICS: readonly Shown[] = [
  {
    name: 'Requests',
    colour: 'c0',
    page: 'requests',
    of: ({ requests }) => counted(requests),
    value: ({ requests }) => requests,
    isBetter: 'more',
  },
  {
    name: 'Error rate',
    colour: 'c4',
    page: 'requests',
    query: { status: 'error' },
    of: (numbers) => percent(rateOf(numbers)),
    value: rateOf,
    change: points,
    isBetter: 'less',
  },
  {
    name: 'Charged, credits',
    colour: 'c0',
    page: 'usage',
    of: ({ cost }) => <Credits of={cost} />,
    value: ({ cost }) => Number(cost),
    isBetter: 'more',
  },
  {
    name: 'Margin',
    colour: 'c1',
    page: 'usage',
    query: { metric: 'margin' },
    of: (numbers) => <span title={`${numbers.margin} credits`}>{percent(marginOf(numbers))}</span>,
    value: marginOf,
    change: points,
    isBetter: 'more',
  },
  {
    name: 'First token, p95',
    colour: 'c3',
    page: 'routes',
    of: ({ first_token_ms: { p50, p95 } }) =>
      p95 === null ? (
        '–'
      ) : (
        <>
          {durationText(p95)}
          {p50 !== null && <span class="unit"> p50 {durationText(p50)}</span>}
        </>
      ),
    value: ({ first_token_ms: { p95 } }) => p95,
    isBetter: 'less',
  },
]

/** A number, its change against the range before, its shape, and the way to what is behind it. */
export function Metrics({ of: { range, before, series }, query }: { readonly of: Overview; readonly query: Query }) {
  return (
    <div class="metrics">
      {METRICS.map((metric) => (
        <Metric
          key={metric.name}
          name={
            <>
              {metric.name} <Change of={metric} now={metric.value(range)} before={metric.value(before)} />
            </>
          }
          value={metric.of(range)}
          href={linkTo([metric.page], { ...query, ...metric.query })}
          shape={{ of: series.map((point) => metric.value(point) ?? 0), colour: metric.colour }}
        />
      ))}
    </div>
  )
}

type ChangeProps = { readonly of: Shown; readonly now: number | null; readonly before: number | null }

function Change({ of: { change = inPercent, isBetter }, now, before }: ChangeProps) {
  if (now === null || before === null || before === 0 || now === before) return null
  const isGood = now > before === (isBetter === 'more')
  const text = change(now, before)
  if (/^[+−]0(\.0)? /.test(text)) return null
  return (
    <span class={isGood ? 'good-text' : 'bad-text'} title="Against the range before">
      {text}
    </span>
  )
}

function inPercent(now: number, before: number): string {
  return `${signed((100 * (now / before - 1)).toFixed(0))} %`
}

function signed(text: string): string {
  return text.startsWith('-') ? `−${text.slice(1)}` : `+${text}`
}
