import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { LINES } from '../../parts/chart.tsx'
import { Loading } from '../../parts/loading.tsx'
import { durationText } from '../../parts/numbers.ts'
import type { Range } from '../../parts/ranges.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { queryText } from '../../router.ts'

type Point = Overview['series'][number]

/** The time to the first token, of all models and keys: quantiles of groups cannot be added up. */
export function LatencyChart({ from, to, isByHour }: Pick<Range, 'from' | 'to' | 'isByHour'>) {
  const overview = useLoad<Overview>(`/overview?${queryText({ from, to })}`)
  return (
    <Loading of={overview}>
      {({ series }) => (
        <TimeChart
          caption="Time to the first token, of all models"
          unit="seconds"
          kind={LINES}
          points={series}
          isByHour={isByHour}
          series={[
            lineOf('p95, of all models', 'c3', ({ first_token_ms: { p95 } }) => p95 ?? 0),
            lineOf('p50', 'c0', ({ first_token_ms: { p50 } }) => p50 ?? 0),
          ]}
        />
      )}
    </Loading>
  )
}

function lineOf(label: string, colour: string, msOf: (point: Point) => number) {
  return { label, colour, of: (point: Point) => msOf(point) / 1000, told: (point: Point) => durationText(msOf(point)) }
}
