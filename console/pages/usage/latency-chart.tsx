import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { Chart } from '../../parts/chart.tsx'
import { Loading } from '../../parts/loading.tsx'
import { durationText } from '../../parts/numbers.ts'
import type { Range } from '../../parts/ranges.ts'
import { momentText } from '../../parts/usage-chart.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { useZone } from '../../preferences.ts'
import { queryText } from '../../router.ts'

type Point = Overview['series'][number]

/** The time to the first token, of all models and keys: quantiles of groups cannot be added up. */
export function LatencyChart({ from, to, isByHour }: Pick<Range, 'from' | 'to' | 'isByHour'>) {
  const zone = useZone()
  const overview = useLoad<Overview>(`/overview?${queryText({ from, to })}`)
  return (
    <Loading of={overview}>
      {({ series }) => (
        <Chart
          caption="Time to the first token, of all models"
          unit="seconds"
          kind="lines"
          moments={series.map(({ start_time }) => momentText(start_time, isByHour, zone))}
          series={[
            lineOf('p95, of all models', 'c3', series, ({ first_token_ms: { p95 } }) => p95),
            lineOf('p50', 'c0', series, ({ first_token_ms: { p50 } }) => p50),
          ]}
        />
      )}
    </Loading>
  )
}

function lineOf(label: string, colour: string, series: readonly Point[], of: (point: Point) => number | null) {
  return {
    label,
    colour,
    values: series.map((point) => (of(point) ?? 0) / 1000),
    told: series.map((point) => durationText(of(point) ?? 0)),
  }
}
