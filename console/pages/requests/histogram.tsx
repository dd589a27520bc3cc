import type { UsageNumbers, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { Chart } from '../../parts/chart.tsx'
import { counted } from '../../parts/counted.ts'
import { Loading } from '../../parts/loading.tsx'
import type { Range } from '../../parts/ranges.ts'
import { momentText, spanOf } from '../../parts/usage-chart.tsx'
import type { Loaded } from '../../parts/use-load.ts'
import { useZone } from '../../zone.ts'

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
    <section class="panel histogram">
      <div class="panel-head">
        <h2>{caption}</h2>
        <span class="quiet">
          {ignored.length > 0 ? `Not filtered by ${ignored.join(', ')}` : 'Click or drag to choose a time'}
        </span>
      </div>
      <Loading of={of}>
        {(page) => {
          const sums = page.data.map(({ results }) =>
            sumOf(group ? results.filter((numbers) => numbers.group === group) : results),
          )
          return (
            <Chart
              caption={caption}
              unit=""
              height={HEIGHT}
              moments={page.data.map(({ start_time }) => momentText(start_time, range.isByHour, zone))}
              series={[
                seriesOf(
                  'answered',
                  'c0',
                  sums.map(({ requests, errors }) => requests - errors),
                ),
                seriesOf(
                  'errors',
                  'failed',
                  sums.map(({ errors }) => errors),
                ),
              ]}
              onPick={(first, last) => onPick(...spanOf(page, first, last))}
            />
          )
        }}
      </Loading>
    </section>
  )
}

function sumOf(results: readonly UsageNumbers[]) {
  return {
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    errors: results.reduce((sum, { refused, failed }) => sum + refused + failed, 0),
  }
}

function seriesOf(label: string, colour: string, values: readonly number[]) {
  return { label, colour, values, told: values.map(counted) }
}
