import type { ComponentChildren } from 'preact'
import { gatherInvoices, type Invoice } from '../../cli/books/invoices.ts'
import { invoiceCsv, invoicePage, sheetsOf, statementCsv } from '../../cli/books/papers.ts'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { type Sheet, statementPage, textsOf } from '../../layers/gateway/domain/rows/statement-page.ts'
import { pathOf } from '../api.ts'
import { progress, useMade } from '../parts/books.ts'
import { Button, Choice, download, optionsOf } from '../parts/controls.tsx'
import { NameChips } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Lines, Loading } from '../parts/panel.tsx'
import { Cells, type Column, count, credits, name, number, Table } from '../parts/table.tsx'
import { type Loaded, useLoad } from '../parts/use-load.ts'
import { NameLink } from '../parts/values.tsx'
import { filterOf, filtersIn, type PageUrl, withQuery } from '../router.ts'

type Props = { readonly url: PageUrl }

const MONTHS = 24

/** The month that is not over, and those before it. */
function lastMonths(): string[] {
  const now = new Date()
  const monthAt = (i: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i)).toISOString()
  return Array.from({ length: MONTHS }, (_, i) => monthAt(i).slice(0, 7))
}

type FrameProps<T> = Props & {
  readonly title: string
  readonly of: Loaded<T>
  readonly isAsked: boolean
  readonly files: (of: T) => Readonly<Record<'csv' | 'html', string>>
  readonly empty: ComponentChildren
  readonly children: (of: T) => ComponentChildren
}

function Papers<T>({ url, title, of, isAsked, files, empty, children }: FrameProps<T>) {
  const { query, filter } = filtersIn(url, ['month'])
  const save = (made: T, type: 'csv' | 'html') =>
    download(`${title.toLowerCase()}-${query.month}.${type}`, new Blob([files(made)[type]], { type: `text/${type}` }))
  const { data } = of
  const actions = data && [
    <Button onClick={() => save(data, 'csv')}>Save as CSV</Button>,
    <Button onClick={() => save(data, 'html')}>Save as a page</Button>,
    <Button onClick={() => print()}>Print</Button>,
  ]
  return (
    <Page title={title} actions={actions}>
      <div class="row wrap bar">
        <Choice label="Month" {...filter('month')} options={optionsOf('Choose a month', lastMonths(), String)} />
        <NameChips url={url} />
        <span class="quiet">{!data && progress.use()}</span>
      </div>
      {isAsked ? <Loading of={of}>{children}</Loading> : empty}
    </Page>
  )
}

const idOf = ({ account_id, key_id }: Invoice) => account_id ?? key_id ?? ''

const TOTALS: readonly Column<Pick<Invoice, 'total'>>[] = [
  count('Requests', ({ total }) => total.requests),
  count('Prompt tokens', ({ total }) => total.prompt_tokens),
  count('Completion tokens', ({ total }) => total.completion_tokens),
  credits('Charged', ({ total }) => total.charged),
]

export function Invoices({ url }: Props) {
  const { month, account, key_id } = filtersIn(url, ['month', 'account', 'key_id']).query
  const asked = { ...(account && { account }), ...(key_id && { key: key_id }) }
  const made = useMade(month && `invoices ${month} ${account}${key_id}`, async (books) => {
    const invoices = await gatherInvoices(books, month, asked)
    return { invoices, sheets: await sheetsOf(books, invoices) }
  })
  return (
    <Papers
      url={url}
      title="Invoices"
      of={made}
      isAsked={month !== ''}
      files={({ invoices, sheets }) => ({ csv: invoiceCsv(invoices), html: invoicePage(invoices, sheets) })}
      empty={
        <Empty command="invoice --month last-month">
          Choose a month. Its charges are read from the totals of days, and compared with every request. So does
        </Empty>
      }
    >
      {({ invoices: { data, total, problems }, sheets }) => [
        problems.length > 0 && (
          <div class="notice bad">
            <p>Do not send these:</p>
            <Lines of={problems} />
          </div>
        ),
        data.length === 0 && <Empty>Nothing was used in {month}.</Empty>,
        data.length > 0 && (
          <Table
            caption={`Invoices of ${month}`}
            columns={[
              name<Invoice>('Customer', (one) => <NameLink id={idOf(one)} name={one.name} />),
              ...TOTALS,
              { head: 'Invoice', of: (one) => <a href={withQuery(url, filterOf(idOf(one)))}>Show</a> },
            ]}
            rows={data}
            foot={
              <tr>
                <th scope="row">All</th>
                <Cells columns={TOTALS} of={{ total }} />
                <td />
              </tr>
            }
          />
        ),
        (account || key_id) && sheets.map((sheet) => <Paper of={sheet} />),
      ]}
    </Papers>
  )
}

export function Statements({ url }: Props) {
  const { month, account, key_id } = filtersIn(url, ['month', 'account', 'key_id']).query
  const id = account || key_id
  const isAsked = month !== '' && id !== ''
  return (
    <Papers
      url={url}
      title="Statements"
      of={useLoad<Statement>(isAsked ? `${pathOf(id)}/statements/${month}` : null)}
      isAsked={isAsked}
      files={(statement) => ({ csv: statementCsv(statement), html: statementPage(statement) })}
      empty={
        <Empty command="statement --account ACCOUNT --month last-month">
          Choose a month that is over, and a customer, or a key with a balance of its own. So does
        </Empty>
      }
    >
      {(statement) => <Paper of={statement} />}
    </Papers>
  )
}

/** The sheet that is saved and printed. */
function Paper({ of: sheet }: { readonly of: Sheet }) {
  const { lines, period, tables } = textsOf(sheet)
  return (
    <section class="apart" aria-label={sheet.name}>
      {sheet.seller && <p>{sheet.seller}</p>}
      <h2>{sheet.name}</h2>
      <Lines of={[...lines, period]} />
      {tables.map(({ title, heads, rows, foot }) => {
        const columns = heads.map((head, i) => (i === 0 ? name : number)(head, (row: readonly string[]) => row[i]))
        return (
          <section key={title} class="panel apart">
            <h3>{title}</h3>
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
      })}
    </section>
  )
}
