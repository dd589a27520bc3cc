import { useMemo, useState } from 'preact/hooks'
import { type Reconciled, reasonText, reconciliationCsv, verdictOf } from '../../cli/bills/reconcile.ts'
import { type AskBooks, listed } from '../../cli/books/ask-books.ts'
import { PAPERS, paperPage } from '../../cli/books/papers.ts'
import type { NoticeShape } from '../../layers/admin/api/shapes/books.ts'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { plainValue } from '../../layers/gateway/domain/basics/plain-text.ts'
import { formatCredits, parseDecimal } from '../../layers/gateway/domain/money/money.ts'
import { type Sheet, textsOf } from '../../layers/gateway/domain/rows/statement-page.ts'
import { ask, askText } from '../api.ts'
import { Button, Choice, download, Field, optionsOf, Select } from '../parts/controls.tsx'
import { NameChips, RangePicker } from '../parts/filters.tsx'
import { dayText } from '../parts/numbers.ts'
import { Bar, Empty, Lines, Loading, Page } from '../parts/page.tsx'
import { rangeOf } from '../parts/ranges.ts'
import { Cells, type Column, cell, count, credits, name, number, Rows, Table } from '../parts/table.tsx'
import { useList, useLoad } from '../parts/use-load.ts'
import { Badge, Moment, NameLink } from '../parts/values.tsx'
import { shared } from '../preferences.ts'
import { filtersIn, type PageUrl, type Query, queryText, titleOf, withQuery } from '../router.ts'

const progress = shared('')

function booksOf(signal: AbortSignal): AskBooks {
  const get = <T,>(path: string, query: Query = {}) => ask<T>(`${path}?${queryText(query)}`, { signal })
  return {
    admin: {
      get,
      list: (path, query) => listed(get, path, query),
      text: (path, query, accept) => askText(`${path}?${queryText(query)}`, accept, signal),
    },
    progress: { say: progress.set },
    nowMs: Date.now(),
  }
}

/** Made in this window, as the command line makes it; rows and bills have texts of others. Meanwhile it tells how far it is. */
function useMade<T>(name: string | null, make: (books: AskBooks) => Promise<T>) {
  const told = progress.use()
  const made = useLoad<T>(name, async (_, { signal } = {}) => {
    progress.set('')
    return plainValue(await make(booksOf(signal as AbortSignal))) as T
  })
  return { ...made, told: name !== null && !made.data && told }
}

const WORDS: Record<keyof typeof PAPERS, string> = {
  invoices: 'The charges of a month are read from the totals of days, and compared with every request.',
  statements: 'Choose a customer, or a key with a balance of its own.',
}

type Props = { readonly url: PageUrl }

const Invoices = ({ url }: Props) => <Papers url={url} kind="invoices" />
const Statements = ({ url }: Props) => <Papers url={url} kind="statements" />

const MONTHS = Array.from({ length: 24 }, (_, i) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i)).toISOString().slice(0, 7)
}).map((month) => [month, month] as const)
const [, [LAST_MONTH]] = MONTHS as [unknown, readonly [string, string]]

function Papers({ url, kind }: Props & { readonly kind: keyof typeof PAPERS }) {
  const { query, filter } = filtersIn(url, ['month', 'account', 'key_id'])
  const { account, key_id: key } = query
  const month = query.month || LAST_MONTH
  // All invoices of a month are many rows to read: not before somebody has chosen one.
  const isAsked = account + key !== '' || (kind === 'invoices' && query.month !== '')
  const made = useMade(isAsked ? `${kind} ${url.query}` : null, async (books) => {
    const asked = { month, ...(account && { account }), ...(key && { key }) }
    const { problems, csv, sheets } = await PAPERS[kind](books, asked)
    return { problems, sheets: await sheets(), csv: csv() }
  })
  const { data } = made
  const save = (type: string, text: string) =>
    download(`${kind}-${month}.${type}`, new Blob([text], { type: `text/${type}` }))
  const actions = data && [
    <Button onClick={() => save('csv', data.csv)}>Save as CSV</Button>,
    <Button onClick={() => save('html', paperPage(month, data.problems, data.sheets))}>Save as a page</Button>,
    <Button onClick={() => print()}>Print</Button>,
  ]
  return (
    <Page title={titleOf(kind)} actions={actions}>
      <Bar end={<span class="quiet">{made.told}</span>}>
        <Choice label="Month" {...filter('month')} value={month} options={MONTHS} />
        <NameChips url={url} />
      </Bar>
      {!isAsked && (
        <Empty>
          {WORDS[kind]} {kind === 'invoices' && <a href={withQuery(url, { month })}>Read the invoices of {month}</a>}
        </Empty>
      )}
      {isAsked && (
        <Loading of={made}>
          {({ problems, sheets }) => [
            problems.length > 0 && (
              <div class="notice bad">
                <p>Do not send these:</p>
                <Lines of={problems} />
              </div>
            ),
            sheets.length + problems.length === 0 && <Empty>Nothing was used in {month}.</Empty>,
            sheets.map((sheet) => (
              <details key={sheet.account_id ?? sheet.key_id} class="apart" open={sheets.length === 1}>
                <summary>
                  <strong>{sheet.name}</strong> {sheet.charged}
                </summary>
                <Paper of={sheet} />
              </details>
            )),
          ]}
        </Loading>
      )}
    </Page>
  )
}

function Paper({ of: sheet }: { readonly of: Sheet }) {
  const { lines, period, tables } = textsOf(sheet)
  return [
    <Lines of={[...(sheet.seller ? [sheet.seller] : []), ...lines, period]} />,
    tables.map(({ title, heads, rows, foot }) => {
      const columns = heads.map((head, i) => (i === 0 ? name : number)(head, (row: readonly string[]) => row[i]))
      return (
        <section key={title} class="panel apart">
          <h2>{title}</h2>
          <Table
            caption={title}
            columns={columns}
            rows={rows}
            foot={
              <tr>
                <Cells columns={columns} of={foot} />
              </tr>
            }
          />
        </section>
      )
    }),
  ]
}

/** The bill is read in this window, and sent nowhere. */
function Reconcile({ url }: { readonly url: PageUrl }) {
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
          title="a decimal of at most 2 places, up to 100"
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
              columns={BILLED}
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

const BILLED: readonly Column<Reconciled>[] = [
  name('Day', (row) => row.day),
  cell('Model', (row) => row.model, 'short'),
  ...SUMS,
  cell('May be because of', (row) => reasonText(row) && [<Badge of="wrong" />, ' ', reasonText(row)], 'wide'),
]

const NOTICES: readonly Column<NoticeShape>[] = [
  cell('When', (notice) => <Moment at={notice.last_at} isBrief />),
  cell('Notice', (notice) => notice.type),
  cell('Of', (notice) => <NameLink id={notice.owner_id} name={notice.owner_name} />, 'short'),
  cell('Status', (notice) => <Badge of={notice.status.replace('_', ' ')} />),
  cell('Delivered by', (notice) => notice.by),
  count('Tries', (notice) => notice.tries),
  cell('Why not', (notice) => notice.error, 'rest'),
]

function Notices() {
  const notices = useList<NoticeShape>('/notices')
  return (
    <Page title="Notices">
      <p class="quiet">
        The sweep sends them to your webhook and your bus, and tries one that failed again every five minutes, for three
        days.
      </p>
      <Rows
        of={notices}
        caption="Notices, newest first"
        columns={NOTICES}
        by="id"
        empty={<Empty command="notices">No notice was told in the last 30 days. They are also listed by</Empty>}
      />
    </Page>
  )
}

export const PAGES = { invoices: Invoices, statements: Statements, reconcile: Reconcile, notices: Notices }
