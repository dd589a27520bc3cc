import { useMemo, useState } from 'preact/hooks'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { UsageNumbers, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { askFile } from '../api.ts'
import { REQUEST_COLUMNS } from '../parts/columns.tsx'
import { Button, Tick } from '../parts/controls.tsx'
import { counted, sumOf } from '../parts/numbers.ts'
import { Empty, Loading, Page, Panel } from '../parts/page.tsx'
import { type Range, rangeOf } from '../parts/ranges.ts'
import { SaveCsv } from '../parts/save-csv.tsx'
import { Rows } from '../parts/table.tsx'
import { TimeChart } from '../parts/usage-chart.tsx'
import { type Loaded, useLive, useTail } from '../parts/use-load.ts'
import { filtersIn, go, goWith, linkTo, type PageUrl, queryText } from '../router.ts'
import { Chips, FILTERS, sumsOf } from './requests/filters.tsx'

/** The histogram is only as live as a sum can be. */
const LIVE_SUMS_MS = 30_000

export function Requests({ url }: { readonly url: PageUrl }) {
  const { query } = filtersIn(url, FILTERS)
  const address = url.query.toString()
  // A range that moved with the time would load the list anew under the reader.
  const nowMs = useMemo(Date.now, [address])
  const range = rangeOf(url, nowMs, query.key_id || query.account ? '30d' : '24h')
  const { from, to } = range
  const calls = url.query.get('calls')
  const asked = { ...query, calls, from, to }
  const read = () => askFile(`/requests?${queryText(asked)}`)
  const canBeLive = to === undefined || Date.parse(to) > nowMs
  const [isOn, setOn] = useState(false)
  // The list is pointed at, or has the focus.
  const [isHeld, setHeld] = useState(false)
  const isLive = isOn && canBeLive
  const sums = sumsOf(query)
  const bucket = range.isByHour ? '1h' : '1d'
  const usage = useLive<UsagePage>(
    `/usage?${queryText({ bucket, group_by: sums.by, from, to, account: query.account, key_id: query.key_id })}`,
    isLive ? LIVE_SUMS_MS : undefined,
  )
  const requests = useTail<RequestLine>('/requests', asked, 'request_id', isLive && !isHeld)
  return (
    <Page title="Requests" actions={<SaveCsv file="requests.csv" read={read} />}>
      <div class="row wrap bar">
        <Chips url={url} range={range} query={query} />
        <span class="row push">
          <span class="quiet" role="status">
            {!canBeLive && 'This range has ended'}
            {isLive && isHeld && 'Paused while you read the list'}
          </span>
          <Button
            class={isLive ? 'chip chosen' : 'chip'}
            aria-pressed={isLive}
            disabled={!canBeLive}
            onClick={() => setOn(!isLive)}
          >
            Live
          </Button>
        </span>
      </div>
      <Histogram
        of={usage}
        range={range}
        sums={sums}
        onPick={(first, end) => go(['requests'], { ...query, calls, from: first, to: end })}
      />
      {query.endpoint === '' && (
        <p class="quiet apart">
          <Tick checked={calls !== null} onChange={() => goWith(url, { calls: calls ? null : 'all' })}>
            Show calls that ask no model
          </Tick>
        </p>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: nothing is done by it; the list stands still while it is read. */}
      <div
        onMouseEnter={() => setHeld(true)}
        onMouseLeave={() => setHeld(false)}
        onFocusIn={() => setHeld(true)}
        onFocusOut={() => setHeld(false)}
      >
        <Rows
          of={requests}
          caption="Requests, newest first"
          columns={REQUEST_COLUMNS}
          by="request_id"
          classOf={(line) => (requests.newer.includes(line) ? 'new' : undefined)}
          empty={
            <Empty title="No requests match these filters.">
              {FILTERS.some((name) => query[name]) ? 'Remove a filter or choose' : 'Choose'} a longer range, or make one
              in the <a href={linkTo(['playground'])}>Playground</a>.
            </Empty>
          }
        />
      </div>
    </Page>
  )
}

type HistogramProps = {
  readonly of: Loaded<UsagePage>
  readonly range: Range
  readonly sums: ReturnType<typeof sumsOf>
  readonly onPick: (from: string, to: string) => void
}

type Bucket = UsagePage['data'][number]

const HEIGHT = 150

function Histogram({ of, range, sums: { group, ignored }, onPick }: HistogramProps) {
  const countOf = (label: string, colour: string, numberOf: (numbers: UsageNumbers) => number) => {
    const sum = ({ results }: Bucket) =>
      sumOf(results, (numbers) => (!group || numbers.group === group ? numberOf(numbers) : 0))
    return { label, colour, of: sum, told: (bucket: Bucket) => counted(sum(bucket)) }
  }
  const all = countOf('all', '', ({ requests }) => requests)
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
              countOf('answered', 'c0', ({ completed }) => completed),
              countOf('refused', 'c2', ({ refused }) => refused),
              countOf('failed', 'bad', ({ failed, broken }) => failed + broken),
            ]}
            totalOf={all.told}
            onPick={onPick}
          />
        )}
      </Loading>
    </Panel>
  )
}
