import { useState } from 'preact/hooks'
import type { RotateBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail, KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { keyPath, post } from '../../api.ts'
import { ActDialog, type DialogProps } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import { Select } from '../../parts/field.tsx'
import { useNewSecret } from '../../parts/secret-dialog.tsx'

const GRACES = [
  ['3600', 'for an hour'],
  ['900', 'for 15 minutes'],
  ['60', 'for a minute'],
  ['0', 'not at all: it ends now'],
] as const

export function RotateKey({ of: key, onDone, onClose }: DialogProps<KeyDetail>) {
  const [grace, setGrace] = useState('3600')
  const withSecret = useNewSecret()
  const rotate = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const body: RotateBody = { grace_seconds: Number(grace), ...told }
      const now = await post<KeyWithSecret>(`${keyPath(key.id)}/rotate`, idempotencyKey, body)
      onDone(now)
      announce(`${key.name} has a new secret.`)
      return now
    })
  return (
    <ActDialog title={`Rotate ${key.name}`} verb="Rotate" onAct={rotate} onClose={onClose}>
      <p>The key gets a new secret, which is shown once.</p>
      <Select
        label={`The old one (…${key.last_four}) goes on working`}
        value={grace}
        onChange={setGrace}
        options={GRACES}
      />
      {key.previous && (
        <p class="notice warn">
          The secret before it (…{key.previous.last_four}) is still in its grace period. It ends with this rotation.
        </p>
      )}
    </ActDialog>
  )
}
