import { useMemo, useState } from 'preact/hooks'
import { type Reconciled, reasonText, reconciliationCsv, verdictOf } from '../../cli/bills/reconcile.ts'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { formatCredits, parseDecimal } from '../../layers/gateway/domain/money/money.ts'
import { useMade } from '../parts/books.ts'
import { Button, download, Field, optionsOf, Select } from '../parts/controls.tsx'
import { RangePicker } from '../parts/filters.tsx'
import { dayText } from '../parts/numbers.ts'
import { Bar, Lines, Loading, Page } from '../parts/page.tsx'
import { rangeOf } from '../parts/ranges.ts'
import { Cells, type Column, cell, count, credits, name, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'
import { Badge } from '../parts/values.tsx'
import { filtersIn, type PageUrl } from '../router.ts'

/** The bill is read in this window, and sent nowhere. */
export function Reconcile({ url }: { readonly url: PageUrl }) {
  const nowMs = useMemo(Date.now, [])
  const range = rangeOf(url, nowMs, 'last-month')
  const { query, filter } = filtersIn(url, ['provider'])
  const catalog = useLoad<CatalogShape>('/catalog')
  const [files, setFiles] = useState<readonly File[]>([])
  const [percent, setPercent] = useState('1')
  const [runs, setRuns] = useState(0)
  const made = useMade(runs > 0 ? `reconciliation ${runs}` : null, async (books) => {
    const { MOST_BILL_BYTES, reconciled } = await import('../../cli/bills/reconciliation.ts')
    const bytesOf = (file: File) => file.slice(0, MOST_BILL_BYTES + 1).arrayBuffer()
    const read = files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await bytesOf(file)) }))
    // A bill is by days, and today is not over.
    const [fromMs = 0, toMs = 0] = [range.from, range.to ?? dayText(nowMs)].map((at) => Date.parse(at.slice(0, 10)))
    const tolerance = parseDecimal(percent, 2) ?? 0n
    return reconciled(books, { provider: query.provider, files: await Promise.all(read), fromMs, toMs, tolerance })
  })
  const compare = (event: Event) => {
    event.preventDefault()
    setRuns(runs + 1)
  }
  const providers = Object.keys((catalog.data?.catalog.providers as object | undefined) ?? {})
  const { data } = made
  return (
    <Page
      title="Reconcile"
      actions={[
        <button type="submit" form="bill" class="primary">
          Compare
        </button>,
        data && <Button onClick={() => download('reconcile.csv', reconciliationCsv(data))}>Save as CSV</Button>,
      ]}
    >
      <Bar end={<span class="quiet">{made.told}</span>}>
        <RangePicker url={url} range={range} />
      </Bar>
      <form id="bill" class="row wrap panel headline" onSubmit={compare}>
        <Select label="Provider" {...filter('provider')} options={optionsOf('Choose one', providers, String)} />
        <Field
          label="Tolerance, %"
          value={percent}
          onInput={setPercent}
          pattern="100|[0-9]{1,2}(\.[0-9]{1,2})?"
          required
        />
        <label class="field">
          <span class="quiet">Bill: choose its files, or drop them here</span>
          <input
            type="file"
            multiple
            required
            onChange={({ currentTarget }) => setFiles([...(currentTarget.files ?? [])])}
          />
        </label>
      </form>
      {runs > 0 && (
        <Loading of={made}>
          {(found) => [
            <p role="status" class="apart">
              <Badge of={found.ok ? 'ok' : 'wrong'} /> {verdictOf(found)} A bill of {found.bill.form}, from{' '}
              {found.from.slice(0, 10)} to {found.to.slice(0, 10)}.
            </p>,
            <Lines of={found.notes} />,
            <Table
              caption="The bill beside our rows"
              columns={COLUMNS}
              rows={found.data}
              foot={
                <tr>
                  <th scope="row" colSpan={2}>
                    All
                  </th>
                  <Cells columns={SUMS} of={found.total} />
                  <td />
                </tr>
              }
            />,
          ]}
        </Loading>
      )}
    </Page>
  )
}

const SUMS: readonly Column<Pick<Reconciled, 'requests' | 'charged' | 'upstream_cost' | 'billed' | 'difference'>>[] = [
  count('Requests', (row) => row.requests),
  credits('Charged', (row) => formatCredits(row.charged)),
  credits('Our cost', (row) => formatCredits(row.upstream_cost)),
  credits('Billed', (row) => formatCredits(row.billed)),
  credits('Difference', (row) => formatCredits(row.difference)),
]

const COLUMNS: readonly Column<Reconciled>[] = [
  name('Day', (row) => row.day),
  cell('Model', (row) => row.model, 'short'),
  ...SUMS,
  cell('May be because of', (row) => reasonText(row) && [<Badge of="wrong" />, ' ', reasonText(row)], 'wide'),
]
