import { useState } from 'preact/hooks'
import type { RevokeBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ask } from '../../api.ts'
import { ActForm } from '../../parts/act-form.tsx'
import { announce } from '../../parts/announce.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { useSubmission } from '../../parts/use-submission.ts'
import type { KeyDialogProps } from './key-dialog.ts'

export function RevokeKey({ of: key, onDone, onClose }: KeyDialogProps) {
  const submission = useSubmission()
  const [confirm, setConfirm] = useState('')
  const revoke = async () => {
    const body: RevokeBody = { confirm }
    const now = await ask<KeyDetail>(`/keys/${encodeURIComponent(key.id)}/revoke`, {
      method: 'POST',
      body,
      headers: { 'Idempotency-Key': submission.idempotencyKey },
    })
    announce(`${key.name} is revoked.`)
    onDone(now)
  }
  return (
    <Dialog title={`Revoke ${key.name} for good?`} onClose={onClose}>
      <ActForm
        submission={submission}
        verb="Revoke for good"
        isDangerous
        isReady={confirm === key.name}
        onSubmit={revoke}
        onClose={onClose}
      >
        <p>Every request with it is refused from now on, and nothing brings the key back.</p>
        <Field label={`Type its name, ${key.name}, to go on`} value={confirm} onInput={setConfirm} required />
      </ActForm>
    </Dialog>
  )
}
