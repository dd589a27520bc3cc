import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './controls.tsx'
import { counted } from './numbers.ts'
import { Problem } from './page.tsx'
import { type Listed, useSize } from './use-load.ts'
import { Credits } from './values.tsx'

type Cell<Row> = (row: Row) => ComponentChildren

export type Column<Row> = {
  readonly head: string
  readonly of: Cell<Row>
  /** Shown in place of the head, which stays its name. */
  readonly headOf?: ComponentChildren
  readonly sorted?: 'ascending' | 'descending' | undefined
  readonly isName?: boolean
  /** An `extra` one is left out of a table with little room, but not of the rows of a phone. */
  readonly class?: Kind | `${Kind | ''} extra` | undefined
}

type Kind = 'number' | 'wide' | 'fill' | 'short' | 'bar-cell' | 'rest' | 'bare'

export function name<Row>(head: string, of: Cell<Row>): Column<Row> {
  return { head, of, isName: true }
}

export function cell<Row>(head: string, of: Cell<Row>, className?: Column<Row>['class']): Column<Row> {
  return { head, of, ...(className && { class: className }) }
}

export function extra<Row>(column: Column<Row>): Column<Row> {
  return { ...column, class: `${(column.class as Kind | undefined) ?? ''} extra` }
}

export function number<Row>(head: string, of: Cell<Row>): Column<Row> {
  return cell(head, of, 'number')
}

export function count<Row>(head: string, of: (row: Row) => number | undefined): Column<Row> {
  return number(head, (row) => {
    const told = of(row)
    return told !== undefined && counted(told)
  })
}

export function credits<Row>(head: string, of: (row: Row) => string): Column<Row> {
  return number(head, (row) => <Credits of={of(row)} />)
}

type Shown<Row> = {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  /** The field that tells its rows apart; by default their order does. */
  readonly by?: keyof Row
  readonly classOf?: (row: Row) => string | undefined
  /** The order and the choice of its rows: with another one it is drawn as a new table is. */
  readonly order?: string
}

type Props<Row> = Shown<Row> & { readonly rows: readonly Row[]; readonly foot?: ComponentChildren }

/** They fill any screen, and are painted before the others are drawn. */
const FIRST_ROWS = 100
const PAINTED_MS = 100

/** Only a table that is wider than its place scrolls by itself, by keyboard too: the heads of others stay in sight of the page. */
export function Table<Row>({ caption, columns, rows, by, classOf, order = '', foot }: Props<Row>) {
  const table = useRef<HTMLTableElement>(null)
  const [isWider, setWider] = useState(false)
  const [drawn, setDrawn] = useState<string | undefined>(undefined)
  const most = drawn === order ? Infinity : FIRST_ROWS
  useEffect(() => {
    if (rows.length <= most) return
    const timer = setTimeout(setDrawn, PAINTED_MS, order)
    return () => clearTimeout(timer)
  }, [order, rows.length > most])
  useSize(table, ({ offsetWidth, parentElement }) => setWider(offsetWidth > (parentElement?.clientWidth ?? 0)))
  return (
    <section class={isWider ? 'scroll wider' : 'scroll'} tabIndex={isWider ? 0 : undefined} aria-label={caption}>
      <table ref={table}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, headOf, sorted, class: kind }) => (
              <th key={head} scope="col" class={kind} aria-sort={sorted}>
                {headOf ?? head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, i) => (
            <tr key={by ? String(row[by]) : i} class={classOf?.(row)}>
              <Cells columns={columns} of={row} />
            </tr>
          ))}
        </tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </section>
  )
}

type RowsProps<Row> = Shown<Row> & { readonly of: Listed<Row>; readonly empty: ComponentChildren }

export function Rows<Row>({ of, empty, ...shown }: RowsProps<Row>) {
  const isEmpty = of.rows.length === 0
  return [
    isEmpty &&
      !of.isLoading &&
      !of.failure &&
      (of.hasMore ? <p class="empty">Nothing among the newest. There is more to look through.</p> : empty),
    !isEmpty && <Table {...shown} rows={of.rows} />,
    <Problem failure={of.failure} again={isEmpty ? of.reload : of.more} />,
    of.isLoading && <p class="quiet">Loading…</p>,
    of.hasMore && !of.isLoading && <Button onClick={of.more}>Load more</Button>,
  ]
}

/** On a phone, a row names these cells; others say themselves what they are. */
const NAMED = /^(number)?( extra)?$/

export function Cells<Row>({ columns, of: row }: { readonly columns: readonly Column<Row>[]; readonly of: Row }) {
  return columns.map(({ head, of, isName, class: kind }) => {
    const Cell = isName ? 'th' : 'td'
    return (
      <Cell
        key={head}
        {...(isName && { scope: 'row' })}
        class={kind}
        data-head={NAMED.test(kind ?? '') ? head : undefined}
      >
        {of(row)}
      </Cell>
    )
  })
}
