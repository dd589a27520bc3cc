import type { KeyShape } from '../../../layers/admin/api/shapes/keys.ts'
import { attentionOf, Badge } from '../../parts/badge.tsx'
import { compareCredits } from '../../parts/compare-credits.ts'
import { Credits } from '../../parts/credits.tsx'
import { LeftBar } from '../../parts/left-bar.tsx'
import { KeyLink } from '../../parts/links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { type Column, cell, count, credits, name, number } from '../../parts/table.tsx'

type Compare = (a: KeyShape, b: KeyShape) => number

const ORDERS: Readonly<Record<string, Compare>> = {
  name: (a, b) => a.name.localeCompare(b.name),
  available: (a, b) => compareCredits(a.available, b.available),
  spent: (a, b) => compareCredits(a.spent, b.spent),
  today: (a, b) => a.requests_today - b.requests_today,
  last_used: (a, b) => (a.last_used_at ?? '').localeCompare(b.last_used_at ?? ''),
}

/** By its name, after a minus from the highest down. */
export function orderOf(by: string): Compare | undefined {
  const isDown = by.startsWith('-')
  const named = isDown ? by.slice(1) : by
  const compare = Object.hasOwn(ORDERS, named) ? ORDERS[named] : undefined
  return compare && isDown ? (a, b) => compare(b, a) : compare
}

export const COLUMNS: readonly Column<KeyShape>[] = [
  { ...name<KeyShape>('Name', (key) => <KeyLink id={key.id} name={key.name} />), sort: 'name', class: 'fill' },
  cell('State', (key) => <State of={key} />),
  {
    ...number<KeyShape>('Balance', (key) => (
      <>
        <Credits of={key.available} />
        <LeftBar available={key.available} granted={key.granted} />
      </>
    )),
    sort: 'available',
  },
  { ...credits<KeyShape>('Spent', (key) => key.spent), sort: '-spent' },
  { ...count<KeyShape>('Today', (key) => key.requests_today), sort: '-today' },
  { ...cell<KeyShape>('Last used', (key) => <Moment at={key.last_used_at} isBrief />), sort: '-last_used' },
  cell('External id', (key) => key.external_id, 'short'),
  cell('Ends in', (key) => <code>…{key.last_four}</code>),
]

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
