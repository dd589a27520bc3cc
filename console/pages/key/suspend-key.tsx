import { ActOnKey } from './act-on-key.tsx'
import type { KeyDialogProps } from './key-dialog.ts'

export function SuspendKey(props: KeyDialogProps) {
  const { name } = props.of
  return (
    <ActOnKey
      {...props}
      act="suspend"
      title={`Suspend ${name}?`}
      verb="Suspend"
      done={`${name} is suspended.`}
      isDangerous
    >
      <p>
        Every request with it is refused from the next one on, until you resume it. Requests under way end as usual, and
        its credits, limits and secrets stay.
      </p>
    </ActOnKey>
  )
}

export function ResumeKey(props: KeyDialogProps) {
  const { name } = props.of
  return (
    <ActOnKey {...props} act="resume" title={`Resume ${name}?`} verb="Resume" done={`${name} is resumed.`}>
      <p>Requests with it are admitted again from the next one on.</p>
    </ActOnKey>
  )
}
