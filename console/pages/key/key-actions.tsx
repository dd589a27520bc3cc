import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { Button } from '../../parts/button.tsx'
import { EditKey } from './edit-key.tsx'
import { GrantCredits } from './grant-credits.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'
import { ResumeKey, SuspendKey } from './suspend-key.tsx'

export const DIALOGS = {
  edit: EditKey,
  grant: GrantCredits,
  rotate: RotateKey,
  suspend: SuspendKey,
  resume: ResumeKey,
  revoke: RevokeKey,
}
export type DialogName = keyof typeof DIALOGS

type Props = { readonly of: KeyDetail; readonly onOpen: (name: DialogName) => void }

/** For a key that is not revoked. */
export function KeyActions({ of: { status }, onOpen }: Props) {
  return (
    <>
      <Button class="primary" onClick={() => onOpen('grant')}>
        Grant credits
      </Button>
      <Button onClick={() => onOpen('edit')}>Change settings</Button>
      <Button onClick={() => onOpen('rotate')}>Rotate</Button>
      {status === 'suspended' ? (
        <Button onClick={() => onOpen('resume')}>Resume</Button>
      ) : (
        <Button onClick={() => onOpen('suspend')}>Suspend</Button>
      )}
      <Button class="danger" onClick={() => onOpen('revoke')}>
        Revoke
      </Button>
    </>
  )
}
