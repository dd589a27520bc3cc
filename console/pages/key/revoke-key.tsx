import { useState } from 'preact/hooks'
import type { RevokeBody } from '../../../layers/admin/api/shapes/bodies.ts'
import { Field } from '../../parts/field.tsx'
import { ActOnKey } from './act-on-key.tsx'
import type { KeyDialogProps } from './key-dialog.ts'

export function RevokeKey(props: KeyDialogProps) {
  const { name } = props.of
  const [confirm, setConfirm] = useState('')
  return (
    <ActOnKey
      {...props}
      act="revoke"
      title={`Revoke ${name} for good?`}
      verb="Revoke for good"
      done={`${name} is revoked.`}
      body={{ confirm } satisfies RevokeBody}
      isDangerous
      isReady={confirm === name}
    >
      <p>Every request with it is refused from now on, and nothing brings the key back.</p>
      <Field label={`Type its name, ${name}, to go on`} value={confirm} onInput={setConfirm} required />
    </ActOnKey>
  )
}
