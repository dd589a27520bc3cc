import type { ComponentChildren } from 'preact'
import { useIdentity } from '../identity.ts'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'
import type { Act } from './use-act.ts'

type Props = {
  readonly act: Act
  readonly verb: string
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  /** Asking again does it again. */
  readonly isRepeatable?: boolean
  readonly onSubmit: () => Promise<void>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** The form of a dialog. What was typed stays through every failure, and is locked while the outcome is not known. */
export function ActForm({ act, verb, isDangerous, isReady = true, isRepeatable, onSubmit, onClose, children }: Props) {
  const { stage, protected: isProtected } = useIdentity()
  const submit = (event: Event) => {
    event.preventDefault()
    void act.run(onSubmit)
  }
  return (
    <form onSubmit={submit}>
      <fieldset disabled={act.isRunning || act.isUnsure}>
        {children}
        {isProtected && (
          <label class="sure">
            <input type="checkbox" required /> Yes, in {stage}
          </label>
        )}
      </fieldset>
      <Problem failure={act.failure} />
      {act.isUnsure && !isRepeatable && (
        <p>
          It is not known whether this was done. Trying again is safe: it is done once, however often it is asked for.
        </p>
      )}
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={act.isRunning || !isReady}>
          {act.isRunning ? 'Asking…' : act.failure ? 'Try again' : verb}
        </button>
      </div>
    </form>
  )
}
