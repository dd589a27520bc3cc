import type { Overview as OverviewShape, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { Button } from '../parts/controls.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { RangePicker } from '../parts/range-picker.tsx'
import { RANGES, type Range, rangeOf, rangeQuery } from '../parts/ranges.ts'
import { Segments } from '../parts/segments.tsx'
import { UsageChart } from '../parts/usage-chart.tsx'
import { useLive } from '../parts/use-load.ts'
import { useNow } from '../parts/values.tsx'
import { go, linkTo, type PageUrl, queryText } from '../router.ts'
import { FirstSteps } from './overview/first-steps.tsx'
import { Metrics } from './overview/metrics.tsx'
import { Attention, Books, Low, Providers, Top } from './overview/panels.tsx'

const POLL_MS = 30_000

export function Overview({ url }: { readonly url: PageUrl }) {
  // The beginning of a range moves with the time, though not with every drawing.
  const nowMs = Math.floor(useNow(10 * MINUTE_MS) / MINUTE_MS) * MINUTE_MS
  const range = rangeOf(url, nowMs)
  const asked = queryText({ from: range.from, to: range.to })
  const overview = useLive<OverviewShape>(`/overview?${asked}`, POLL_MS)
  return (
    <Page
      title="Overview"
      actions={
        <>
          <Segments
            label="Range"
            options={RANGES}
            value={range.name}
            hrefOf={(name) => linkTo(['overview'], { range: name })}
          />
          <RangePicker url={url} range={range} />
          <Button onClick={() => void overview.reload()}>Refresh</Button>
        </>
      }
    >
      <Loading of={overview}>{(data) => <Numbers of={data} range={range} reload={overview.reload} />}</Loading>
    </Page>
  )
}

type Props = { readonly of: OverviewShape; readonly range: Range; readonly reload: () => Promise<void> }

function Numbers({ of: data, range, reload }: Props) {
  const query = rangeQuery(range)
  return (
    <>
      <FirstSteps of={data} reload={reload} />
      <Attention of={data} />
      <Metrics of={data} query={query} />
      <div class="two">
        <OverTime range={range} />
        <div class="panel">
          <Low of={data} />
          <Top title="Top keys" of={data.top_keys} linkOf={(id) => linkTo(['keys', id])} />
        </div>
      </div>
      <div class="two">
        <Providers of={data} />
        <div class="panel">
          <Top title="Top models" of={data.top_models} linkOf={(model) => linkTo(['requests'], { ...query, model })} />
          <Books of={data} />
        </div>
      </div>
    </>
  )
}

/** It loads by itself, so that the numbers above do not wait for it. */
function OverTime({ range }: { readonly range: Range }) {
  const bucket = range.isByHour ? '1h' : '1d'
  const usage = useLive<UsagePage>(
    `/usage?${queryText({ bucket, group_by: 'model', from: range.from, to: range.to })}`,
    POLL_MS,
  )
  return (
    <Loading of={usage}>
      {(page) => (
        <UsageChart
          title="by model"
          page={page}
          isByHour={range.isByHour}
          onPick={(from, to) => go(['requests'], { from, to })}
        />
      )}
    </Loading>
  )
}
