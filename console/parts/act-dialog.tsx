import { type Act, ActForm } from './act-form.tsx'
import { Dialog } from './dialog.tsx'
import { useSubmission } from './use-submission.ts'

type Props = Act & {
  readonly title: string
  /** Gets the Idempotency-Key of this submission. */
  readonly onAct: (idempotencyKey: string) => Promise<void>
}

/** A dialog that asks, and then does one thing. */
export function ActDialog({ title, onAct, ...rest }: Props) {
  const submission = useSubmission()
  return (
    <Dialog title={title} onClose={rest.onClose}>
      <ActForm {...rest} submission={submission} onSubmit={() => onAct(submission.idempotencyKey)} />
    </Dialog>
  )
}
