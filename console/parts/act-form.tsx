import type { ComponentChildren } from 'preact'
import { identityHere } from '../identity.ts'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'
import type { FormSubmission } from './use-submission.ts'

export type Act = {
  readonly verb: string
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  /** A second submission does it again. */
  readonly isRepeatable?: boolean
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

type Props = Act & { readonly submission: FormSubmission; readonly onSubmit: () => Promise<void> }

/** The form of a dialog. Typed text survives every failure, and is locked while the outcome is unknown. */
export function ActForm({
  submission,
  verb,
  isDangerous,
  isReady = true,
  isRepeatable,
  onSubmit,
  onClose,
  children,
}: Props) {
  const { stage, protected: isProtected } = identityHere()
  const submit = (event: Event) => {
    event.preventDefault()
    void submission.run(onSubmit)
  }
  return (
    <form onSubmit={submit}>
      <fieldset disabled={submission.isRunning || submission.isOutcomeUnknown}>
        {children}
        {isProtected && (
          <label class="sure">
            <input type="checkbox" required /> Yes, in {stage}
          </label>
        )}
      </fieldset>
      <Problem failure={submission.failure} />
      {submission.isOutcomeUnknown && !isRepeatable && (
        <p>
          It is not known whether this was done. Trying again is safe: it is done once, however often it is asked for.
        </p>
      )}
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={submission.isRunning || !isReady}>
          {submission.isRunning ? 'Asking…' : submission.failure ? 'Try again' : verb}
        </button>
      </div>
    </form>
  )
}
