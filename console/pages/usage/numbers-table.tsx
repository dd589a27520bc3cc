import type { UsageNumbers } from '../../../layers/admin/api/shapes/usage.ts'
import { Credits } from '../../parts/credits.tsx'
import { KeyLink } from '../../parts/links.tsx'
import { Table } from '../../parts/table.tsx'
import { colourOf, type DrawnGroups } from './drawn-groups.ts'

type Row = UsageNumbers & { readonly group: string; readonly label: string }

type Props = {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly total?: UsageNumbers
  readonly drawn: DrawnGroups
  readonly isKey: boolean
}

export function NumbersTable({ caption, rows, total, drawn, isKey }: Props) {
  return (
    <Table
      caption={caption}
      head={HEAD}
      foot={
        total && (
          <tr>
            <th scope="row">All</th>
            <Numbers of={total} />
          </tr>
        )
      }
    >
      {rows.map((row) => (
        <tr key={row.group}>
          <th scope="row">
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={colourOf(row.group, drawn)} width="10" height="10" />
            </svg>{' '}
            {isKey ? <KeyLink id={row.group} name={row.label} /> : row.label}
          </th>
          <Numbers of={row} />
        </tr>
      ))}
    </Table>
  )
}

const HEAD = (
  <>
    <th scope="col">Of</th>
    {[
      'Cost',
      'Cost us',
      'Margin',
      'Requests',
      'Refused',
      'Failed',
      'Prompt tokens',
      'Of them cached',
      'Completion tokens',
    ].map((name) => (
      <th key={name} scope="col" class="number">
        {name}
      </th>
    ))}
  </>
)

function Numbers({ of }: { readonly of: UsageNumbers }) {
  return (
    <>
      <td class="number">
        <Credits of={of.cost} />
      </td>
      <td class="number">
        <Credits of={of.upstream_cost} />
      </td>
      <td class="number">
        <Credits of={of.margin} />
        {of.without_cost > 0 && (
          <span class="quiet"> without {of.without_cost.toLocaleString('en-US')} of unknown cost</span>
        )}
      </td>
      {[of.requests, of.refused, of.failed, of.prompt_tokens, of.cached_tokens, of.completion_tokens].map(
        (count, i) => (
          <td key={i} class="number">
            {count.toLocaleString('en-US')}
          </td>
        ),
      )}
    </>
  )
}
