import { useMemo } from 'preact/hooks'
import type { Overview, UsageGroup, UsageNumbers, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { ask } from '../api.ts'
import { colourIn, LINE, Swatch } from '../parts/chart.tsx'
import { usageCsv } from '../parts/csv.ts'
import { NameChips, RangePicker, Views } from '../parts/filters.tsx'
import { counted, dayText, durationText } from '../parts/numbers.ts'
import { Bar, Empty, Loading, Page } from '../parts/page.tsx'
import { Choices, Picker } from '../parts/picker.tsx'
import { type Range, rangeOf, rangeQuery } from '../parts/ranges.ts'
import { SaveCsv } from '../parts/save-csv.tsx'
import { Cells, type Column, count, credits, extra, name, number, Table } from '../parts/table.tsx'
import { chartPath, colourOf, labelOf, TimeChart, UsageChart } from '../parts/usage-chart.tsx'
import { useLoad } from '../parts/use-load.ts'
import { Credits, NameLink } from '../parts/values.tsx'
import { filtersIn, goWith, linkTo, type PageUrl, type Query, queryText } from '../router.ts'

const GROUPS: Readonly<Record<string, string>> = {
  model: 'Model',
  key: 'Key',
  account: 'Customer',
  provider: 'Provider',
  user: 'User',
  day: 'Day',
}
const OFFERED = Object.entries(GROUPS).map(([value, text]) => ({ value, text }))
/** A tag is `tag:team` in the address. */
const titleOf = (by: string) => GROUPS[by] ?? by.replace(':', ' ')

export function Usage({ url }: { readonly url: PageUrl }) {
  const nowMs = useMemo(Date.now, [url.query.toString()])
  const range = wholeDays(rangeOf(url, nowMs, '30d'))
  const { from, to, isByHour } = range
  const groupBy = (url.query.get('group_by') || 'model') as UsageGroup
  const { query: whose } = filtersIn(url, ['account', 'key_id'])
  const asked = { bucket: isByHour ? '1h' : '1d', group_by: groupBy, from, to, ...whose }
  const usage = useLoad<UsagePage>(chartPath(asked))
  const file = `usage-${from.slice(0, 10)}-${(to ?? dayText(nowMs + DAY_MS)).slice(0, 10)}-by-${groupBy}.csv`
  const read = async () => usageCsv(await ask(`/usage?${queryText(asked)}`), isByHour)
  return (
    <Page title="Usage" actions={usage.data && <SaveCsv file={file} read={read} />}>
      <Bar end={<a href={linkTo(['requests'], { ...rangeQuery(range), ...whose })}>Requests of this range</a>}>
        <RangePicker url={url} range={range} />
        <GroupPicker url={url} by={groupBy} />
        <NameChips url={url} />
        <Views url={url} />
      </Bar>
      <Loading of={usage}>
        {(page) =>
          page.total.requests === 0
            ? NOTHING_USED
            : [
                <UsageChart
                  title={`by ${titleOf(page.group_by).toLowerCase()}`}
                  page={page}
                  isByHour={isByHour}
                  url={url}
                  onPick={(first, end) => goWith(url, { range: null, from: first, to: end })}
                  latency={
                    whose.account + whose.key_id === '' ? (of) => <LatencyChart of={of} {...range} /> : undefined
                  }
                />,
                <section class="panel apart">
                  <NumbersTable page={page} range={range} />
                </section>,
              ]
        }
      </Loading>
    </Page>
  )
}

/** A range of days that ends now begins with a whole one: half a first day would look like less use. */
function wholeDays(range: Range): Range {
  if (range.isByHour || range.name === 'custom') return range
  return range.from.length === 10 ? range : { ...range, from: dayText(Date.parse(range.from) + DAY_MS) }
}

const NOTHING_USED = (
  <Empty command="usage summary --by model">
    Nothing was used in this range. Choose a longer one, or make a request in the{' '}
    <a href={linkTo(['playground'])}>Playground</a>. The command line sums up with
  </Empty>
)

function GroupPicker({ url, by }: { readonly url: PageUrl; readonly by: string }) {
  return (
    <Picker<string> label="Group by" value={titleOf(by)} onChoose={(group_by) => goWith(url, { group_by })} isFixed>
      {(choose) => [
        <Choices label="a group" choices={OFFERED} typed={/^tag:.{1,64}$/} onChoose={choose} />,
        <p class="quiet small">Or type a tag by its name, such as tag:team.</p>,
      ]}
    </Picker>
  )
}

type Figures = Overview['series'][number]
type Bucket = UsagePage['data'][number]
type Point = Pick<Bucket, 'start_time' | 'end_time'> & Partial<Pick<Figures, 'first_token_ms'>>
type LatencyProps = Pick<Range, 'from' | 'to' | 'isByHour'> & { readonly of: readonly Bucket[] }

/** The time to the first token, of all models and keys: quantiles of groups cannot be added up. */
function LatencyChart({ of: buckets, from, to, isByHour }: LatencyProps) {
  const overview = useLoad<Overview>(`/overview?${queryText({ from, to })}`)
  const timeOf = ({ start_time: start }: { readonly start_time: string }) => start.slice(0, isByHour ? 13 : 10)
  return (
    <Loading of={overview}>
      {({ series }) => {
        const known = new Map(series.map((figures) => [timeOf(figures), figures]))
        const points = buckets.map((bucket): Point => ({ ...known.get(timeOf(bucket)), ...bucket }))
        return (
          <TimeChart
            caption="Time to the first token, of all models"
            unit="seconds"
            points={points}
            isByHour={isByHour}
            series={LINES}
            lines={(x, y) =>
              LINES.map(({ label, colour, of }) => {
                const found = points.flatMap((point, i) => (of(point) ? [[x(i), y(of(point))]] : []))
                return [
                  <polyline key={label} {...LINE} stroke={colourIn(colour)} points={found.join(' ')} />,
                  found.map(([left, top]) => <circle fill={colourIn(colour)} cx={left} cy={top} r="2" />),
                ]
              })
            }
          />
        )
      }}
    </Loading>
  )
}

function lineOf(quantile: 'p50' | 'p95', colour: string) {
  const msOf = ({ first_token_ms: of }: Point) => of?.[quantile] ?? 0
  const label = quantile === 'p95' ? 'p95, of all models' : quantile
  return { label, colour, of: (point: Point) => msOf(point) / 1000, told: (point: Point) => durationText(msOf(point)) }
}

const LINES = [lineOf('p95', 'c3'), lineOf('p50', 'c0')]

const NUMBER_COLUMNS: readonly Column<UsageNumbers>[] = [
  credits('Charged', (of) => of.cost),
  credits('Provider cost', (of) => of.upstream_cost),
  number('Margin', marginOf),
  count('Requests', (of) => of.requests),
  extra(count('Refused', (of) => of.refused)),
  extra(count('Provider failed', (of) => of.failed)),
  extra(count('We failed', (of) => of.broken)),
  count('Tokens in', (of) => of.prompt_tokens),
  extra(count('Cached', (of) => of.cached_tokens)),
  count('Tokens out', (of) => of.completion_tokens),
]

const MOST_SHOWN = 500

type Row = UsagePage['groups'][number] & { readonly place: number }

function NumbersTable({ page, range }: { readonly page: UsagePage; readonly range: Range }) {
  const { group_by: by, groups, total } = page
  const filterBy = (group: string): Query => {
    if (by === 'day') return { range: null, from: group, to: dayText(Date.parse(group) + DAY_MS) }
    return by.startsWith('tag:') ? { tag: `${by.slice(4)}=${group}` } : { [by]: group }
  }
  const nameOf = (row: Row) => {
    if (by === 'key' || by === 'account') return <NameLink id={row.group} name={row.label} />
    if (row.group === '-') return labelOf(row)
    return <a href={linkTo(['requests'], { ...rangeQuery(range), ...filterBy(row.group) })}>{labelOf(row)}</a>
  }
  const group = name<Row>(titleOf(by), (row) => [
    <Swatch of={colourOf(by === 'day' ? 0 : row.place)} />,
    ' ',
    nameOf(row),
  ])
  return (
    <Table
      caption={`Usage by ${titleOf(by).toLowerCase()}`}
      columns={[group, ...NUMBER_COLUMNS]}
      rows={groups.slice(0, MOST_SHOWN).map((row, place) => ({ ...row, place }))}
      by="group"
      foot={<tr>{[<th scope="row">All</th>, <Cells columns={NUMBER_COLUMNS} of={total} />]}</tr>}
    />
  )
}

function marginOf({ margin, without_cost }: UsageNumbers) {
  const unknown = counted(without_cost)
  return [
    <Credits of={margin} />,
    without_cost > 0 && (
      <small class="note" title={`Without ${unknown} answers whose cost to us is not known`}>
        {unknown} unknown
      </small>
    ),
  ]
}
