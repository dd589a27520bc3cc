import type { UsageGroup, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { DAY_MS } from '../../layers/gateway/domain/time.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { download } from '../parts/download.ts'
import { Select } from '../parts/field.tsx'
import { DAY_PATTERN, FilterField } from '../parts/filter-field.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo, type PageUrl, withQuery } from '../router.ts'
import { DayChart } from './usage/day-chart.tsx'
import { groupsOf } from './usage/drawn-groups.ts'
import { NumbersTable } from './usage/numbers-table.tsx'
import { usageCsv } from './usage/usage-csv.ts'

const RANGES = [7, 30, 90] as const
const GROUPS = [
  ['model', 'Model'],
  ['key', 'Key'],
  ['provider', 'Provider'],
] as const

export function Usage({ url }: { readonly url: PageUrl }) {
  const today = Date.now()
  const from = url.query.get('from') || dayText(today - 29 * DAY_MS)
  const to = url.query.get('to') || dayText(today + DAY_MS)
  const groupBy = (url.query.get('group_by') || 'model') as UsageGroup
  const day = url.query.get('day') ?? ''
  const usage = useLoad<UsagePage>(`/usage?${new URLSearchParams({ bucket: '1d', group_by: groupBy, from, to })}`)
  const choose = (changes: Record<string, string>) => location.replace(withQuery(url, changes))
  const save = (page: UsagePage) =>
    download(`usage-${from}-${to}-by-${groupBy}.csv`, new Blob([usageCsv(page)], { type: 'text/csv' }))
  const { data } = usage
  return (
    <Page title="Usage" actions={data && <Button onClick={() => save(data)}>Save as CSV</Button>}>
      <div class="filters">
        <Select label="By" value={groupBy} onChange={(value) => choose({ group_by: value })} options={GROUPS} />
        <FilterField
          label="From (UTC day)"
          pattern={DAY_PATTERN}
          value={from}
          onChange={(value) => choose({ from: value, day: '' })}
        />
        <FilterField
          label="To, not included"
          pattern={DAY_PATTERN}
          value={to}
          onChange={(value) => choose({ to: value, day: '' })}
        />
        <p class="links">
          {RANGES.map((days) => (
            <a
              key={days}
              href={linkTo(['usage'], {
                group_by: groupBy,
                from: dayText(today - (days - 1) * DAY_MS),
                to: dayText(today + DAY_MS),
              })}
            >
              {days} days
            </a>
          ))}
        </p>
      </div>
      <Loading of={usage}>
        {(page) => <Numbers page={page} day={day} onDay={(value) => choose({ day: value })} />}
      </Loading>
    </Page>
  )
}

type NumbersProps = { readonly page: UsagePage; readonly day: string; readonly onDay: (day: string) => void }

function Numbers({ page, day, onDay }: NumbersProps) {
  if (page.total.requests === 0) {
    return (
      <div class="empty">
        <p>
          Nothing was used in these days. <strong>Send</strong> in the Playground makes a request; the command line sums
          up with
        </p>
        <Command>usage summary --by model</Command>
      </div>
    )
  }
  const labels = new Map(page.groups.map(({ group, label }) => [group, label]))
  const bucket = page.data.find(({ start_time }) => start_time.startsWith(day))
  const days = page.data.map(({ start_time, closed }) => {
    const text = start_time.slice(0, 10)
    return [text, closed ? text : `${text} (still counting)`] as const
  })
  return (
    <>
      <DayChart page={page} />
      <NumbersTable
        caption={`By ${page.group_by}, all days`}
        rows={page.groups}
        total={page.total}
        drawn={groupsOf(page)}
        isKey={page.group_by === 'key'}
      />
      <h2>One day</h2>
      <div class="filters">
        <Select label="Day" value={day} onChange={onDay} options={[['', 'Choose a day'], ...days]} />
      </div>
      {day !== '' && bucket && (
        <NumbersTable
          caption={`By ${page.group_by}, ${day}${bucket.closed ? '' : ', still counting'}`}
          rows={bucket.results.map((numbers) => ({ ...numbers, label: labels.get(numbers.group) ?? numbers.group }))}
          drawn={groupsOf(page)}
          isKey={page.group_by === 'key'}
        />
      )}
    </>
  )
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
