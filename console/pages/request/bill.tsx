import type { BillLineShape, RequestShape } from '../../../layers/admin/api/shapes/requests.ts'
import { Credits } from '../../parts/credits.tsx'
import { counted } from '../../parts/numbers.ts'
import { Panel } from '../../parts/panel.tsx'
import { type Column, count, credits, name, number, Table } from '../../parts/table.tsx'
import { rowFacts } from './row-facts.ts'

const COLUMNS: readonly Column<BillLineShape>[] = [
  name('What', (line) => line.what),
  count('Count', (line) => line.quantity),
  number('Price', ({ price, per }) => `${price} ${per === 'million' ? 'per million' : 'each'}`),
  credits('Amount', (line) => line.amount),
]

export function Bill({ of: request }: { readonly of: RequestShape }) {
  const { bill, row, upstream_cost, upstream_cost_source, margin } = request
  const { cost } = rowFacts(request)
  const above = row?.pricing?.above
  return (
    <Panel
      title="The charge"
      class="apart"
      beside={above !== undefined && <span class="quiet">At the price above {counted(above)} prompt tokens</span>}
    >
      <Table
        caption="The charge, line by line"
        columns={COLUMNS}
        rows={bill}
        by="what"
        foot={
          <>
            {cost !== undefined && <Sum name="Charged" amount={cost} />}
            {upstream_cost !== null && (
              <Sum
                name={`Provider cost${upstream_cost_source === 'provider' ? ', as the provider states it' : ''}`}
                amount={upstream_cost}
              />
            )}
            {margin !== null && <Sum name="Margin" amount={margin} />}
          </>
        }
      />
    </Panel>
  )
}

function Sum({ name, amount }: { readonly name: string; readonly amount: string }) {
  return (
    <tr class="sum">
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td class="number">
        <Credits of={amount} />
      </td>
    </tr>
  )
}
