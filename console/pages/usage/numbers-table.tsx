import type { UsageNumbers } from '../../../layers/admin/api/shapes/usage.ts'
import { Credits } from '../../parts/credits.tsx'
import { KeyLink } from '../../parts/links.tsx'
import { Cells, type Column, count, credits, name, number, Table } from '../../parts/table.tsx'
import { colourOf, type DrawnGroups } from './drawn-groups.ts'

type Row = UsageNumbers & { readonly group: string; readonly label: string }

type Props = {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly total?: UsageNumbers
  readonly drawn: DrawnGroups
  readonly isKey: boolean
}

const NUMBERS: readonly Column<UsageNumbers>[] = [
  credits('Cost', (of) => of.cost),
  credits('Cost us', (of) => of.upstream_cost),
  number('Margin', (of) => (
    <>
      <Credits of={of.margin} />
      {of.without_cost > 0 && (
        <span class="quiet"> without {of.without_cost.toLocaleString('en-US')} of unknown cost</span>
      )}
    </>
  )),
  count('Requests', (of) => of.requests),
  count('Refused', (of) => of.refused),
  count('Failed', (of) => of.failed),
  count('Prompt tokens', (of) => of.prompt_tokens),
  count('Of them cached', (of) => of.cached_tokens),
  count('Completion tokens', (of) => of.completion_tokens),
]

export function NumbersTable({ caption, rows, total, drawn, isKey }: Props) {
  const group = name<Row>('Of', (row) => (
    <>
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <rect class={colourOf(row.group, drawn)} width="10" height="10" />
      </svg>{' '}
      {isKey ? <KeyLink id={row.group} name={row.label} /> : row.label}
    </>
  ))
  return (
    <Table
      caption={caption}
      columns={[group, ...NUMBERS]}
      rows={rows}
      keyOf={(row) => row.group}
      foot={
        total && (
          <tr>
            <th scope="row">All</th>
            <Cells columns={NUMBERS} of={total} />
          </tr>
        )
      }
    />
  )
}
