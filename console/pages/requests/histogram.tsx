import type { UsageNumbers, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { Loading } from '../../parts/loading.tsx'
import { counted } from '../../parts/numbers.ts'
import { Panel } from '../../parts/panel.tsx'
import type { Range } from '../../parts/ranges.ts'
import { sumOf, TimeChart } from '../../parts/usage-chart.tsx'
import type { Loaded } from '../../parts/use-load.ts'

type Props = {
  readonly of: Loaded<UsagePage>
  readonly range: Range
  /** The only group to be drawn. */
  readonly group: string
  /** The names of filters that sums cannot follow. */
  readonly ignored: readonly string[]
  readonly onPick: (from: string, to: string) => void
}

type Bucket = UsagePage['data'][number]

const HEIGHT = 150

/** Requests over time, those that failed or were refused in red. */
export function Histogram({ of, range, group, ignored, onPick }: Props) {
  const countOf = (label: string, colour: string, numberOf: (numbers: UsageNumbers) => number) => {
    const sum = ({ results }: Bucket) =>
      sumOf(
        results.filter((numbers) => !group || numbers.group === group),
        numberOf,
      )
    return { label, colour, of: sum, told: (bucket: Bucket) => counted(sum(bucket)) }
  }
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
        {({ data }) => (
          <TimeChart
            caption={caption}
            unit=""
            height={HEIGHT}
            points={data}
            isByHour={range.isByHour}
            series={[
              countOf('answered', 'c0', ({ requests, refused, failed }) => requests - refused - failed),
              countOf('errors', 'bad', ({ refused, failed }) => refused + failed),
            ]}
            onPick={onPick}
          />
        )}
      </Loading>
    </Panel>
  )
}
