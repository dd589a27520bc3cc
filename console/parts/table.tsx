import type { ComponentChildren } from 'preact'
import { Credits } from './credits.tsx'

type Cell<Row> = (row: Row) => ComponentChildren

/** A column of a table: its head, and what it shows of a row. */
export type Column<Row> = {
  readonly head: string
  readonly of: Cell<Row>
  /** Shown in place of the head, which stays its name. */
  readonly headOf?: ComponentChildren
  /** The order in which its head puts the rows first; after a minus, from the highest down. */
  readonly sort?: string
  /** The row is called by it. */
  readonly isName?: boolean
  readonly class?: 'number' | 'wide' | 'fill' | 'short' | 'bar-cell' | 'rest'
}

/** The order of the rows: its name, after a minus from the highest down. */
export type Order = { readonly by: string; readonly hrefOf: (by: string) => string }

export function name<Row>(head: string, of: Cell<Row>): Column<Row> {
  return { head, of, isName: true }
}

export function cell<Row>(head: string, of: Cell<Row>, className?: Column<Row>['class']): Column<Row> {
  return { head, of, ...(className && { class: className }) }
}

export function number<Row>(head: string, of: Cell<Row>): Column<Row> {
  return cell(head, of, 'number')
}

export function count<Row>(head: string, of: (row: Row) => number | undefined): Column<Row> {
  return number(head, (row) => of(row)?.toLocaleString('en-US'))
}

export function credits<Row>(head: string, of: (row: Row) => string): Column<Row> {
  return number(head, (row) => <Credits of={of(row)} />)
}

export type Shown<Row> = {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row, i: number) => string | number
  readonly order?: Order
  readonly classOf?: (row: Row) => string | undefined
}

type Props<Row> = Shown<Row> & { readonly rows: readonly Row[]; readonly foot?: ComponentChildren }

/** A wide table scrolls by itself, by keyboard too; the page does not. */
export function Table<Row>({ caption, columns, rows, keyOf, classOf, foot, order }: Props<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table class="cards">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.head} of={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={keyOf(row, i)} class={classOf?.(row)}>
              <Cells columns={columns} of={row} />
            </tr>
          ))}
        </tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </section>
  )
}

function Head<Row>({ of, order }: { readonly of: Column<Row>; readonly order: Order | undefined }) {
  const { head, headOf, sort, class: kind } = of
  const isSorted = order && sort && bare(order.by) === bare(sort)
  const isDown = isSorted && order.by.startsWith('-')
  return (
    <th
      scope="col"
      class={kind === 'number' ? kind : undefined}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      {order && sort ? (
        <a class="sort" href={order.hrefOf(isSorted ? turned(order.by) : sort)}>
          {head}
          {isSorted && <span aria-hidden="true">{isDown ? ' ↓' : ' ↑'}</span>}
        </a>
      ) : (
        (headOf ?? head)
      )}
    </th>
  )
}

const bare = (order: string) => order.replace(/^-/, '')
const turned = (order: string) => (order.startsWith('-') ? bare(order) : `-${order}`)

export function Cells<Row>({ columns, of: row }: { readonly columns: readonly Column<Row>[]; readonly of: Row }) {
  return (
    <>
      {columns.map(({ head, of, isName, class: kind }) =>
        isName ? (
          <th key={head} scope="row" class={kind} data-head={head}>
            {of(row)}
          </th>
        ) : (
          <td key={head} class={kind} data-head={head}>
            {of(row)}
          </td>
        ),
      )}
    </>
  )
}
