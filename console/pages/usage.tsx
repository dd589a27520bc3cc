import { useMemo } from 'preact/hooks'
import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { DAY_MS } from '../../layers/gateway/domain/time.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/command.tsx'
import { download } from '../parts/download.ts'
import { KeyChip } from '../parts/key-chip.tsx'
import { KeyLink } from '../parts/links.tsx'
import { Loading } from '../parts/loading.tsx'
import { dayText } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { RangePicker } from '../parts/range-picker.tsx'
import { type Range, rangeOf, rangeQuery } from '../parts/ranges.ts'
import { Segments } from '../parts/segments.tsx'
import { labelOf, UsageChart } from '../parts/usage-chart.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo, type PageUrl, type Query, queryText, withQuery } from '../router.ts'
import { LatencyChart } from './usage/latency-chart.tsx'
import { NumbersTable } from './usage/numbers-table.tsx'
import { usageCsv } from './usage/usage-csv.ts'

const GROUPS = [
  ['model', 'Model'],
  ['key', 'Key'],
  ['provider', 'Provider'],
] as const
type GroupName = (typeof GROUPS)[number][0]

export function Usage({ url }: { readonly url: PageUrl }) {
  const address = url.query.toString()
  const nowMs = useMemo(Date.now, [address])
  const range = wholeDays(rangeOf(url, nowMs, '30d'))
  const { from, to, isByHour } = range
  const groupBy = (url.query.get('group_by') || 'model') as UsageGroup
  const keyId = url.query.get('key_id') ?? ''
  const bucket = isByHour ? '1h' : '1d'
  const usage = useLoad<UsagePage>(`/usage?${queryText({ bucket, group_by: groupBy, from, to, key_id: keyId })}`)
  const choose = (changes: Query) => {
    location.hash = withQuery(url, changes)
  }
  const save = (page: UsagePage) => {
    const name = `usage-${from.slice(0, 10)}-${(to ?? dayText(nowMs + DAY_MS)).slice(0, 10)}-by-${groupBy}.csv`
    download(name, new Blob([usageCsv(page, isByHour)], { type: 'text/csv' }))
  }
  const { data } = usage
  return (
    <Page title="Usage" actions={data && <Button onClick={() => save(data)}>Save as CSV</Button>}>
      <div class="row wrap bar">
        <RangePicker url={url} range={range} />
        <KeyChip value={keyId} onChoose={(id) => choose({ key_id: id })} />
        <Segments
          label="Group by"
          options={GROUPS}
          value={groupBy as GroupName}
          hrefOf={(group) => withQuery(url, { group_by: group })}
        />
        <a class="push" href={linkTo(['requests'], { ...rangeQuery(range), key_id: keyId })}>
          Requests of this range
        </a>
      </div>
      <Loading of={usage}>
        {(page) =>
          page.total.requests === 0 ? (
            NOTHING_USED
          ) : (
            <Numbers page={page} range={range} url={url} choose={choose} isOfKey={keyId !== ''} />
          )
        }
      </Loading>
    </Page>
  )
}

/** By the day, a range that ends now begins with a day: half a first day would look like less use. */
function wholeDays(range: Range): Range {
  if (range.isByHour || range.name === 'custom') return range
  return range.from.length === 10 ? range : { ...range, from: dayText(Date.parse(range.from) + DAY_MS) }
}

type NumbersProps = {
  readonly page: UsagePage
  readonly range: Range
  readonly url: PageUrl
  readonly choose: (changes: Query) => void
  readonly isOfKey: boolean
}

function Numbers({ page, range, url, choose, isOfKey }: NumbersProps) {
  const groupBy = page.group_by
  return (
    <>
      <UsageChart
        title={`by ${groupBy}`}
        page={page}
        isByHour={range.isByHour}
        metric={url.query.get('metric') ?? 'cost'}
        onMetric={(metric) => choose({ metric })}
        onPick={(from, to) => choose({ range: null, from, to })}
        latency={isOfKey ? undefined : () => <LatencyChart {...range} />}
      />
      <section class="panel apart">
        <NumbersTable
          caption={`Usage by ${groupBy}`}
          head={GROUPS.find(([name]) => name === groupBy)?.[1] ?? 'Day'}
          page={page}
          nameOf={(group) => {
            if (groupBy === 'key') return <KeyLink id={group.group} name={group.label} />
            if (group.group === '-') return labelOf(group)
            return <a href={linkTo(['requests'], { ...rangeQuery(range), [groupBy]: group.group })}>{labelOf(group)}</a>
          }}
        />
      </section>
    </>
  )
}

const NOTHING_USED = (
  <Empty title="Nothing was used in this range." command="usage summary --by model">
    Choose a longer one, or make a request in the <a href={linkTo(['playground'])}>Playground</a>. The command line sums
    up with
  </Empty>
)
