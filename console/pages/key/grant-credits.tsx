import { useState } from 'preact/hooks'
import type { GrantBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ask } from '../../api.ts'
import { ActForm } from '../../parts/act-form.tsx'
import { announce } from '../../parts/announce.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { AMOUNT_PATTERN, Field } from '../../parts/field.tsx'
import { useSubmission } from '../../parts/use-submission.ts'
import type { KeyDialogProps } from './key-dialog.ts'

export function GrantCredits({ of: key, onDone, onClose }: KeyDialogProps) {
  const submission = useSubmission()
  const [credits, setCredits] = useState('')
  const grant = async () => {
    const body: GrantBody = { credits: credits.trim() }
    const path = `/keys/${encodeURIComponent(key.id)}`
    await ask(`${path}/grants`, { method: 'POST', body, headers: { 'Idempotency-Key': submission.idempotencyKey } })
    const now = await ask<KeyDetail>(path)
    announce(`Granted. ${key.name} has ${now.available} credits available.`)
    onDone(now)
  }
  return (
    <Dialog title={`Grant credits to ${key.name}`} onClose={onClose}>
      <ActForm submission={submission} verb="Grant" onSubmit={grant} onClose={onClose}>
        <Field
          label="Credits"
          value={credits}
          onInput={setCredits}
          inputMode="decimal"
          pattern={AMOUNT_PATTERN}
          required
          hint="A plain decimal, such as 25 or 0.5."
        />
      </ActForm>
    </Dialog>
  )
}
