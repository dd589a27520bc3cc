import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ask } from '../../api.ts'
import { ActForm } from '../../parts/act-form.tsx'
import { announce } from '../../parts/announce.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useSubmission } from '../../parts/use-submission.ts'
import type { KeyDialogProps } from './key-dialog.ts'

export function SuspendKey(props: KeyDialogProps) {
  return (
    <SetStatus {...props} path="suspend" verb="Suspend" done="is suspended" isDangerous>
      Every request with it is refused from the next one on, until you resume it. Requests under way end as usual, and
      its credits, limits and secrets stay.
    </SetStatus>
  )
}

export function ResumeKey(props: KeyDialogProps) {
  return (
    <SetStatus {...props} path="resume" verb="Resume" done="is resumed">
      Requests with it are admitted again from the next one on.
    </SetStatus>
  )
}

type Props = KeyDialogProps & {
  readonly path: 'suspend' | 'resume'
  readonly verb: string
  readonly done: string
  readonly isDangerous?: boolean
  readonly children: string
}

function SetStatus({ of: key, path, verb, done, isDangerous = false, children, onDone, onClose }: Props) {
  const submission = useSubmission()
  const set = async () => {
    const now = await ask<KeyDetail>(`/keys/${encodeURIComponent(key.id)}/${path}`, {
      method: 'POST',
      headers: { 'Idempotency-Key': submission.idempotencyKey },
    })
    announce(`${key.name} ${done}.`)
    onDone(now)
  }
  return (
    <Dialog title={`${verb} ${key.name}?`} onClose={onClose}>
      <ActForm submission={submission} verb={verb} isDangerous={isDangerous} onSubmit={set} onClose={onClose}>
        <p>{children}</p>
      </ActForm>
    </Dialog>
  )
}
