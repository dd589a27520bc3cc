import type { UsageNumbers, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { Chart } from '../../parts/chart.tsx'
import { Loading } from '../../parts/loading.tsx'
import { counted } from '../../parts/numbers.ts'
import { Panel } from '../../parts/panel.tsx'
import type { Range } from '../../parts/ranges.ts'
import { momentText, spanOf } from '../../parts/usage-chart.tsx'
import type { Loaded } from '../../parts/use-load.ts'
import { useZone } from '../../preferences.ts'

type Props = {
  readonly of: Loaded<UsagePage>
  readonly range: Range
  /** The only group to be drawn. */
  readonly group: string
  /** The names of filters that sums cannot follow. */
  readonly ignored: readonly string[]
  readonly onPick: (from: string, to: string) => void
}

const HEIGHT = 150

/** Requests over time, those that failed or were refused in red. */
export function Histogram({ of, range, group, ignored, onPick }: Props) {
  const zone = useZone()
  const caption = `Requests by ${range.isByHour ? 'hour' : 'UTC day'}`
  return (
    <Panel
      title={caption}
      class="histogram"
      beside={
        <span class="quiet">
          {ignored.length > 0 ? `Not filtered by ${ignored.join(', ')}` : 'Click or drag to choose a time'}
        </span>
      }
    >
      <Loading of={of}>
        {(page) => {
          const own = page.data.map(({ results }) => results.filter((of) => !group || of.group === group))
          const answered = own.map((results) => sumOf(results, ({ requests }) => requests) - errorsOf(results))
          const errors = own.map(errorsOf)
          return (
            <Chart
              caption={caption}
              unit=""
              height={HEIGHT}
              moments={page.data.map(({ start_time }) => momentText(start_time, range.isByHour, zone))}
              series={[seriesOf('answered', 'c0', answered), seriesOf('errors', 'failed', errors)]}
              onPick={(first, last) => onPick(...spanOf(page, first, last))}
            />
          )
        }}
      </Loading>
    </Panel>
  )
}

function sumOf(results: readonly UsageNumbers[], of: (numbers: UsageNumbers) => number): number {
  return results.reduce((sum, numbers) => sum + of(numbers), 0)
}

function errorsOf(results: readonly UsageNumbers[]): number {
  return sumOf(results, ({ refused, failed }) => refused + failed)
}

function seriesOf(label: string, colour: string, values: readonly number[]) {
  return { label, colour, values, told: values.map(counted) }
}
