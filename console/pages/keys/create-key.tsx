import { useState } from 'preact/hooks'
import type { CreateKeyBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { post } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import { AmountField } from '../../parts/field.tsx'
import { KeySettings } from '../../parts/key-settings.tsx'
import { useNewSecret } from '../../parts/secret-dialog.tsx'
import { DEFAULTS, settingsOf } from '../../parts/typed-settings.ts'

type Props = { readonly onDone: () => void; readonly onClose: () => void }

export function CreateKey({ onDone, onClose }: Props) {
  const [typed, setTyped] = useState(DEFAULTS)
  const [credits, setCredits] = useState('0')
  const withSecret = useNewSecret()
  const create = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const body: CreateKeyBody = { ...settingsOf(typed), credits: credits.trim(), ...told }
      const key = await post<KeyWithSecret>('/keys', idempotencyKey, body)
      onDone()
      announce(`The key ${key.name} was made.`)
      return key
    })
  return (
    <ActDialog title="Create a key" verb="Create" onAct={create} onClose={onClose}>
      <KeySettings typed={typed} onChange={setTyped} />
      <AmountField label="Credits to begin with" value={credits} onInput={setCredits} />
    </ActDialog>
  )
}
