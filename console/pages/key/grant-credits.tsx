import { useState } from 'preact/hooks'
import type { GrantBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ask, keyPath, post } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import { AmountField } from '../../parts/field.tsx'
import type { KeyDialogProps } from './key-dialog.ts'

export function GrantCredits({ of: key, onDone, onClose }: KeyDialogProps) {
  const [credits, setCredits] = useState('')
  const grant = async (idempotencyKey: string) => {
    const path = keyPath(key.id)
    await post(`${path}/grants`, idempotencyKey, { credits: credits.trim() } satisfies GrantBody)
    const now = await ask<KeyDetail>(path)
    announce(`Granted. ${key.name} has ${now.available} credits available.`)
    onDone(now)
  }
  return (
    <ActDialog title={`Grant credits to ${key.name}`} verb="Grant" onAct={grant} onClose={onClose}>
      <AmountField label="Credits" value={credits} onInput={setCredits} hint="A plain decimal, such as 25 or 0.5." />
    </ActDialog>
  )
}
