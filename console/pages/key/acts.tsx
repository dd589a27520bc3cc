import { useState } from 'preact/hooks'
import type { RotateBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyDetail, KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { pathOf, post } from '../../api.ts'
import { announce, Select } from '../../parts/controls.tsx'
import { ActDialog } from '../../parts/dialog.tsx'
import { useNewSecret } from '../../parts/secret-dialog.tsx'
import { type Act, type DialogProps, EditSettings, GrantCredits, pausing, plain } from '../detail/dialogs.tsx'
import { OldUse } from './panels.tsx'

export const KEY_ACTS: readonly Act<KeyDetail>[] = [
  {
    button: 'Grant credits',
    class: 'primary',
    isOffered: ({ account_id }) => account_id === null,
    Form: GrantCredits,
  },
  { button: 'Change settings', Form: EditSettings },
  { button: 'Rotate', Form: RotateKey },
  ...pausing<KeyDetail>(() => 'it'),
  plain({
    button: 'Revoke',
    path: 'revoke',
    class: 'danger',
    isConfirmed: true,
    about: () => 'Every request with it is refused from now on, and nothing brings the key back.',
  }),
]

export const END_GRACE = plain<KeyDetail>({
  button: 'End now',
  path: 'end-grace',
  title: (name) => `End the old secret of ${name}?`,
  about: (key) => (
    <>
      <OldUse of={key} /> Who uses it is refused from the next request on.
    </>
  ),
})

const GRACES = [
  ['3600', 'for an hour'],
  ['900', 'for 15 minutes'],
  ['60', 'for a minute'],
  ['0', 'not at all: it ends now'],
] as const

function RotateKey({ of: key, onDone, onClose }: DialogProps<KeyDetail>) {
  const [grace, setGrace] = useState('3600')
  const withSecret = useNewSecret()
  const rotate = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const body: RotateBody = { grace_seconds: Number(grace), ...told }
      const now = await post<KeyWithSecret>(`${pathOf(key.id)}/rotate`, idempotencyKey, body)
      onDone(now)
      announce(`${key.name} has a new secret.`)
      return now
    })
  const label = `The old one (…${key.last_four}) goes on working`
  return (
    <ActDialog title={`Rotate ${key.name}`} verb="Rotate" onAct={rotate} onClose={onClose}>
      <p>The key gets a new secret, which is shown once.</p>
      <Select label={label} value={grace} onChange={setGrace} options={GRACES} />
      {key.previous && (
        <p class="notice warn">
          The secret before it (…{key.previous.last_four}) is still in its grace period. It ends with this rotation.
        </p>
      )}
    </ActDialog>
  )
}
