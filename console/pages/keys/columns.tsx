import type { KeyShape } from '../../../layers/admin/api/shapes/keys.ts'
import { LeftBar } from '../../parts/metric.tsx'
import { compareCredits } from '../../parts/numbers.ts'
import { type Column, cell, count, credits, name, number } from '../../parts/table.tsx'
import { attentionOf, Badge, Credits, KeyLink, Moment } from '../../parts/values.tsx'

type Compare = (a: KeyShape, b: KeyShape) => number

const ORDERS: Readonly<Record<string, Compare>> = {
  name: (a, b) => a.name.localeCompare(b.name),
  available: (a, b) => compareCredits(a.available, b.available),
  spent: (a, b) => compareCredits(a.spent, b.spent),
  today: (a, b) => a.requests_today - b.requests_today,
  last_used: (a, b) => (a.last_used_at ?? '').localeCompare(b.last_used_at ?? ''),
}

const bare = (order: string) => order.replace(/^-/, '')

/** An order has a name; after a minus it is from the highest down. */
export function orderOf(by: string): Compare | undefined {
  const compare = Object.hasOwn(ORDERS, bare(by)) ? ORDERS[bare(by)] : undefined
  return compare && by.startsWith('-') ? (a, b) => compare(b, a) : compare
}

/** The columns for rows in this order; a head leads to its own. */
export function keyColumns(by: string, hrefOf: (by: string) => string): readonly Column<KeyShape>[] {
  const sortable = (first: string, column: Column<KeyShape>): Column<KeyShape> => {
    const isSorted = bare(by) === bare(first)
    const isDown = by.startsWith('-')
    const next = isSorted ? (isDown ? bare(by) : `-${by}`) : first
    return {
      ...column,
      sorted: isSorted ? (isDown ? 'descending' : 'ascending') : undefined,
      headOf: (
        <a class="sort" href={hrefOf(next)}>
          {column.head}
          {isSorted && <span aria-hidden="true">{isDown ? ' ↓' : ' ↑'}</span>}
        </a>
      ),
    }
  }
  return [
    sortable('name', { ...name('Name', (key) => <KeyLink id={key.id} name={key.name} />), class: 'fill' }),
    cell('State', (key) => <State of={key} />),
    sortable(
      'available',
      number('Balance', (key) => (
        <>
          <Credits of={key.available} />
          <LeftBar available={key.available} granted={key.granted} />
        </>
      )),
    ),
    sortable(
      '-spent',
      credits('Spent', (key) => key.spent),
    ),
    sortable(
      '-today',
      count('Today', (key) => key.requests_today),
    ),
    sortable(
      '-last_used',
      cell('Last used', (key) => <Moment at={key.last_used_at} isBrief />),
    ),
    cell('External id', (key) => key.external_id, 'short'),
    cell('Ends in', (key) => <code>…{key.last_four}</code>),
  ]
}

function State({ of: key }: { readonly of: KeyShape }) {
  const attention = attentionOf(key)
  return (
    <>
      {key.status === 'active' ? (
        attention.length === 0 && <span class="quiet">active</span>
      ) : (
        <Badge of={key.status} />
      )}
      {attention.map((badge) => (
        <Badge key={badge} of={badge} />
      ))}
    </>
  )
}
