import type { z } from 'zod'
import type { requestsQuery } from '../../../layers/admin/api/shapes/queries.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { OUTCOMES } from '../../../layers/gateway/domain/usage-row.ts'
import { type Choice, Choices } from '../../parts/choices.tsx'
import { KeyChip } from '../../parts/key-chip.tsx'
import { Picker } from '../../parts/picker.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import type { Range } from '../../parts/ranges.ts'
import { type PageUrl, type Query, withQuery } from '../../router.ts'

/** Only what the server filters by: a filter of the rows that happen to be loaded would mislead. */
export type FilterName = Exclude<keyof z.input<typeof requestsQuery>, 'from' | 'to' | 'limit' | 'after'>

type Chip = {
  readonly name: FilterName
  readonly label: string
  readonly choices: (usage: UsagePage | undefined) => readonly Choice[]
  readonly canType?: boolean
}

const CHIPS: readonly Chip[] = [
  { name: 'model', label: 'Model', choices: groupsOf, canType: true },
  { name: 'outcome', label: 'Outcome', choices: () => OUTCOMES.map((value) => ({ value, text: outcomeText(value) })) },
]

export const FILTERS: readonly FilterName[] = ['key_id', ...CHIPS.map(({ name }) => name)]

type Props = {
  readonly url: PageUrl
  readonly range: Range
  readonly query: Readonly<Record<FilterName, string>>
  readonly usage: UsagePage | undefined
}

export function Chips({ url, range, query, usage }: Props) {
  const choose = (changes: Query) => {
    location.hash = withQuery(url, changes)
  }
  return (
    <>
      <RangePicker url={url} range={range} />
      <KeyChip value={query.key_id} onChoose={(id) => choose({ key_id: id })} />
      {CHIPS.map(({ name, label, choices, canType = false }) => {
        const known = choices(usage)
        const shown = known.find(({ value }) => value === query[name])?.text ?? query[name]
        return (
          <Picker key={name} label={label} value={shown} onClear={() => choose({ [name]: null })}>
            {(close) => (
              <Choices
                label={label.toLowerCase()}
                choices={known}
                canType={canType}
                onChoose={(value) => {
                  choose({ [name]: value })
                  close()
                }}
              />
            )}
          </Picker>
        )
      })}
    </>
  )
}

function groupsOf(usage: UsagePage | undefined): Choice[] {
  const named = usage?.groups.filter(({ group }) => group !== '-') ?? []
  return named.map(({ group, requests }) => ({ value: group, text: group, note: requests.toLocaleString('en-US') }))
}

function outcomeText(outcome: string): string {
  return outcome.charAt(0).toUpperCase() + outcome.slice(1).replace('_', ' ')
}
