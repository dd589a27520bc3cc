import { PAPERS, paperPage } from '../../cli/books/papers.ts'
import { type Sheet, textsOf } from '../../layers/gateway/domain/rows/statement-page.ts'
import { useMade } from '../parts/books.ts'
import { Button, Choice, download } from '../parts/controls.tsx'
import { NameChips } from '../parts/filters.tsx'
import { Bar, Empty, Lines, Loading, Page } from '../parts/page.tsx'
import { Cells, name, number, Table } from '../parts/table.tsx'
import { filtersIn, type PageUrl, titleOf, withQuery } from '../router.ts'

const WORDS: Record<keyof typeof PAPERS, string> = {
  invoices: 'The charges of a month are read from the totals of days, and compared with every request.',
  statements: 'Choose a customer, or a key with a balance of its own.',
}

type Props = { readonly url: PageUrl }

export const Invoices = ({ url }: Props) => <Papers url={url} kind="invoices" />
export const Statements = ({ url }: Props) => <Papers url={url} kind="statements" />

const MONTHS = Array.from({ length: 24 }, (_, i) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i)).toISOString().slice(0, 7)
}).map((month) => [month, month] as const)
/** The last one that is over. */
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
            sheets.length === 0 && <Empty>Nothing was used in {month}.</Empty>,
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

/** The sheet as it is saved. */
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
