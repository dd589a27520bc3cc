import { useRef, useState } from 'preact/hooks'
import type { CreateKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { BRAND } from '../../layers/gateway/contract.ts'
import { post } from '../api.ts'
import { identityHere } from '../identity.ts'
import { type NewSecret, newSecret } from '../secret.ts'
import { ActDialog } from './act-dialog.tsx'
import { announce } from './announce.tsx'
import { AmountField } from './field.tsx'
import { KeySettings } from './key-settings.tsx'
import { showSecret } from './secret-dialog.tsx'
import { DEFAULTS, settingsOf } from './typed-settings.ts'

type Props = { readonly onDone: () => void; readonly onClose: () => void }

export function CreateKey({ onDone, onClose }: Props) {
  const { base_url } = identityHere()
  const [typed, setTyped] = useState(DEFAULTS)
  const [credits, setCredits] = useState('0')
  // Made once: after a lost answer the request is sent again with the same hash.
  const made = useRef<NewSecret | undefined>(undefined)

  const create = async (idempotencyKey: string) => {
    made.current ??= await newSecret(BRAND.keyPrefix)
    const { secret, told } = made.current
    const body: CreateKeyBody = { ...settingsOf(typed), credits: credits.trim(), ...told }
    const key = await post<KeyWithSecret>('/keys', idempotencyKey, body)
    onDone()
    announce(`The key ${key.name} was made.`)
    showSecret({ secret, of: key.name, baseUrl: base_url })
  }
  return (
    <ActDialog title="Create a key" verb="Create" onAct={create} onClose={onClose}>
      <KeySettings typed={typed} onChange={setTyped} />
      <AmountField label="Credits to begin with" value={credits} onInput={setCredits} />
    </ActDialog>
  )
}
