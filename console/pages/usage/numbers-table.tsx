import type { ComponentChildren } from 'preact'
import type { UsageNumbers, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { Swatch } from '../../parts/chart.tsx'
import { Credits } from '../../parts/credits.tsx'
import { counted } from '../../parts/numbers.ts'
import { Cells, type Column, count, credits, name, number, Table } from '../../parts/table.tsx'
import { colourOf } from '../../parts/usage-chart.tsx'

type Group = UsagePage['groups'][number]
type Row = Group & { readonly place: number }

type Props = {
  readonly caption: string
  readonly head: string
  readonly page: UsagePage
  readonly nameOf: (group: Group) => ComponentChildren
}

const NUMBERS: readonly Column<UsageNumbers>[] = [
  credits('Charged', (of) => of.cost),
  credits('Provider cost', (of) => of.upstream_cost),
  number('Margin', (of) => <Margin of={of} />),
  count('Requests', (of) => of.requests),
  count('Refused', (of) => of.refused),
  count('Failed', (of) => of.failed),
  count('Tokens in', (of) => of.prompt_tokens),
  count('Cached', (of) => of.cached_tokens),
  count('Tokens out', (of) => of.completion_tokens),
]

/** The numbers behind the chart, in its colours, with their sum. */
export function NumbersTable({ caption, head, page: { groups, total }, nameOf }: Props) {
  const group = name<Row>(head, (row) => (
    <>
      <Swatch of={colourOf(row.place)} /> {nameOf(row)}
    </>
  ))
  return (
    <Table
      caption={caption}
      columns={[group, ...NUMBERS]}
      rows={groups.map((row, place) => ({ ...row, place }))}
      by="group"
      foot={
        <tr>
          <th scope="row">All</th>
          <Cells columns={NUMBERS} of={total} />
        </tr>
      }
    />
  )
}

function Margin({ of }: { readonly of: UsageNumbers }) {
  const unknown = counted(of.without_cost)
  return (
    <>
      <Credits of={of.margin} />
      {of.without_cost > 0 && (
        <span class="note" title={`Without ${unknown} answers whose cost to us is not known`}>
          {unknown} unknown
        </span>
      )}
    </>
  )
}
