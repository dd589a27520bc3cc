import type { Overview as OverviewShape, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { RangePicker } from '../parts/filters.tsx'
import { Loading, Page } from '../parts/page.tsx'
import { rangeOf, rangeQuery } from '../parts/ranges.ts'
import { UsageChart } from '../parts/usage-chart.tsx'
import { useLive } from '../parts/use-load.ts'
import { useNow } from '../parts/values.tsx'
import { go, linkTo, type PageUrl, queryText } from '../router.ts'
import { Metrics } from './overview/metrics.tsx'
import { Attention, Books, FirstSteps, isNew, Low, Providers, Top } from './overview/panels.tsx'

const POLL_MS = 30_000
/** The first request is waited for. */
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
  const asked = queryText({ bucket: isByHour ? '1h' : '1d', group_by: 'model', from, to })
  const usage = useLive<UsagePage>(`/usage?${asked}`, POLL_MS)
  return (
    <Page title="Overview" actions={<RangePicker url={url} range={range} />}>
      <Loading of={overview}>
        {(data) => [
          <FirstSteps of={data} />,
          <Attention of={data} />,
          <Metrics of={data} query={query} />,
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
