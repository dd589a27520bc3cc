import { useRef, useState } from 'preact/hooks'
import type { CreateKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { BRAND } from '../../layers/gateway/contract.ts'
import { ask } from '../api.ts'
import { useIdentity } from '../identity.ts'
import { type NewSecret, newSecret } from '../secret.ts'
import { ActForm } from './act-form.tsx'
import { announce } from './announce.tsx'
import { Dialog } from './dialog.tsx'
import { AMOUNT_PATTERN, Field } from './field.tsx'
import { KeySettings } from './key-settings.tsx'
import { showSecret } from './secret-dialog.tsx'
import { DEFAULTS, settingsOf } from './typed-settings.ts'
import { useSubmission } from './use-submission.ts'

type Props = { readonly onDone: () => void; readonly onClose: () => void }

export function CreateKey({ onDone, onClose }: Props) {
  const submission = useSubmission()
  const { base_url } = useIdentity()
  const [typed, setTyped] = useState(DEFAULTS)
  const [credits, setCredits] = useState('0')
  // Made once: after a lost answer the request is sent again with the same hash.
  const made = useRef<NewSecret | undefined>(undefined)

  const create = async () => {
    made.current ??= await newSecret(BRAND.keyPrefix)
    const { secret, told } = made.current
    const body: CreateKeyBody = { ...settingsOf(typed), credits: credits.trim(), ...told }
    const key = await ask<KeyWithSecret>('/keys', {
      method: 'POST',
      body,
      headers: { 'Idempotency-Key': submission.idempotencyKey },
    })
    onDone()
    announce(`The key ${key.name} was made.`)
    showSecret({ secret, of: key.name, baseUrl: base_url })
  }
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <ActForm submission={submission} verb="Create" onSubmit={create} onClose={onClose}>
        <KeySettings typed={typed} onChange={setTyped} />
        <Field
          label="Credits to begin with"
          value={credits}
          onInput={setCredits}
          inputMode="decimal"
          pattern={AMOUNT_PATTERN}
          required
        />
      </ActForm>
    </Dialog>
  )
}
