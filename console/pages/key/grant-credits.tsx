import { useState } from 'preact/hooks'
import type { GrantBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ask, failureFrom, keyPath, post } from '../../api.ts'
import { ActDialog, type DialogProps } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import { AMOUNT_PATTERN, Field } from '../../parts/field.tsx'

export function GrantCredits({ of: key, onDone, onClose }: DialogProps<KeyDetail>) {
  const [credits, setCredits] = useState('')
  const [reference, setReference] = useState('')
  /** The reference that was used before. */
  const [used, setUsed] = useState<string>()
  const grant = async (idempotencyKey: string) => {
    const path = keyPath(key.id)
    const body: GrantBody = {
      credits: credits.trim(),
      ...(reference && { reference }),
      ...(used === reference && { again: true }),
    }
    await post(`${path}/grants`, idempotencyKey, body).catch((error) => {
      if (failureFrom(error).code === 'reference_used') setUsed(reference)
      throw error
    })
    const now = await ask<KeyDetail>(path)
    announce(`Granted. ${key.name} has ${now.available} credits available.`)
    onDone(now)
  }
  return (
    <ActDialog title={`Grant credits to ${key.name}`} verb="Grant" onAct={grant} onClose={onClose}>
      <Field
        label="Credits"
        value={credits}
        onInput={setCredits}
        pattern={`-?${AMOUNT_PATTERN}`}
        required
        hint="A plain decimal, such as 25 or 0.5; -5 takes 5 back."
      />
      <Field
        label="Reference"
        value={reference}
        onInput={setReference}
        maxLength={200}
        hint="The payment, such as an invoice."
      />
      {used === reference && (
        <label class="sure">
          <input type="checkbox" required /> Grant under this reference again
        </label>
      )}
    </ActDialog>
  )
}
