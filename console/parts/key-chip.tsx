import { useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyDetail, KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { keyPath } from '../api.ts'
import { queryText } from '../router.ts'
import { Choices, Picker } from './picker.tsx'
import { useLoad, usePaused } from './use-load.ts'

/** Somebody is still typing. */
const WAIT_MS = 200

type Props = { readonly value: string; readonly onChoose: (id: string | null) => void }

/** A key by its name; the address has its id, because names may change and may be shared. */
export function KeyChip({ value, onChoose }: Props) {
  const key = useLoad<KeyDetail>(value === '' ? null : keyPath(value))
  return (
    <Picker label="Key" value={value && (key.data?.name ?? value)} onChoose={onChoose}>
      {(choose) => <KeyChoices onChoose={choose} />}
    </Picker>
  )
}

type Found = Partial<Pick<List<KeyShape>, 'data'>> & { readonly keys?: readonly KeyShape[] }

function KeyChoices({ onChoose }: { readonly onChoose: (id: string) => void }) {
  const [typed, setTyped] = useState('')
  const text = usePaused(typed, WAIT_MS)
  const found = useLoad<Found>(text ? `/search?${queryText({ q: text })}` : '/keys?limit=50')
  // Enter must not choose from what was found for an earlier text.
  const isCurrent = typed === text && found.data !== undefined
  const keys = isCurrent ? (found.data?.keys ?? found.data?.data ?? []) : []
  return (
    <Choices
      label="a key"
      choices={keys.map(({ id, name, last_four }) => ({ value: id, text: name, note: `…${last_four}` }))}
      isLoading={!isCurrent}
      onTyped={setTyped}
      onChoose={onChoose}
    />
  )
}
