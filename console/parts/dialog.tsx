import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { type ApiFailure, NEEDS_ANSWER, questions } from '../api.ts'
import { shared } from '../preferences.ts'
import { type NewSecret, newSecret } from '../secret.ts'
import { identityHere } from '../session.ts'
import { Button, CopyButton, Refused, Tick } from './controls.tsx'
import { Facts, focusHeading, Problem } from './page.tsx'
import { help, isKey, leave, SHORTCUTS, useShortcut } from './shortcuts.ts'
import type { Draft } from './use-draft.ts'
import { useSubmission } from './use-load.ts'

type Props = {
  readonly title: string
  readonly children: ComponentChildren
  /** Also called for Escape. Without it only the dialog's own buttons close it. */
  readonly onClose?: (() => void) | undefined
}

/** The browser's own modal dialog: it keeps the focus inside, and gives it back to the button that opened it. */
export function Dialog({ title, children, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useLayoutEffect(() => {
    const own = dialog.current
    own?.showModal()
    questions.asked = new Set()
    return () => {
      questions.asked = undefined
      own?.close()
      // The button that opened it may be gone with it.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) focusHeading()
      })
    }
  }, [])
  const cancelled = (event: Event) => {
    event.preventDefault()
    onClose?.()
  }
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      closedby={onClose ? 'closerequest' : 'none'}
      onCancel={cancelled}
      onKeyDown={(event) => {
        if (isKey(event, leave)) cancelled(event)
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  )
}

type ActProps = {
  readonly title: string
  readonly verb: string
  readonly isDangerous?: boolean | undefined
  readonly isReady?: boolean
  /** A second submission does it again. */
  readonly isRepeatable?: boolean
  /** Nothing is left to be done: the children are its outcome. */
  readonly isOver?: boolean
  readonly draft?: Draft
  readonly onAct: (idempotencyKey: string) => Promise<void>
  readonly onFailed?: (failure: ApiFailure) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog that asks, and then does one thing. Typed text survives every failure, and is locked while the outcome is unknown. */
export function ActDialog({ title, verb, isReady = true, isOver, draft, onAct, onClose, children, ...act }: ActProps) {
  const { isRunning, failure, idempotencyKey, run } = useSubmission()
  const { stage, protected: isProtected } = identityHere()
  const again = failure?.code === NEEDS_ANSWER ? `${verb} all the same` : 'Try again'
  const form = useRef<HTMLFormElement>(null)
  const wrong = form.current?.elements.namedItem(failure?.param ?? '') as HTMLElement | null | undefined
  useLayoutEffect(() => wrong?.focus(), [failure])
  const submit = async (event: Event) => {
    event.preventDefault()
    // An act that may have been done, if only in part, must not come back as a draft and be done twice.
    draft?.release()
    const failed = await run(() => onAct(idempotencyKey))
    if (failed) act.onFailed?.(failed)
    if (failed && !failed.isOutcomeUnknown && !act.isRepeatable) draft?.keep()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} onSubmit={(event) => void submit(event)}>
        <fieldset disabled={isRunning || failure?.isOutcomeUnknown}>
          {draft?.isOld && (
            <p class="notice row between">
              You typed this before, and it was not sent. {draft.lost}{' '}
              <Button onClick={draft.forget}>Start afresh</Button>
            </p>
          )}
          <Refused.Provider value={failure}>{children}</Refused.Provider>
          {isProtected && !isOver && <Tick required>Yes, in {stage}</Tick>}
        </fieldset>
        <Problem failure={wrong ? undefined : failure} />
        {failure?.isOutcomeUnknown && !act.isRepeatable && (
          <p>
            It is not known whether this was done. Trying again is safe: it is done once, however often it is asked for.
          </p>
        )}
        <div class="row wrap actions">
          <Button class={isOver ? 'primary' : undefined} onClick={onClose}>
            {isOver ? 'Close' : 'Cancel'}
          </Button>
          {!isOver && (
            <button
              type="submit"
              class={act.isDangerous ? 'danger' : 'primary'}
              disabled={isRunning || !isReady || !!draft?.lost}
            >
              {isRunning ? 'Asking…' : failure ? again : verb}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

export function Help() {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  useShortcut(help, () => setOpen(true))
  return [
    <Button aria-label="Keyboard shortcuts" onClick={() => setOpen(true)}>
      ?
    </Button>,
    isOpen && (
      <Dialog title="Keyboard shortcuts" onClose={close}>
        <Facts of={SHORTCUTS.map(([, shown, words]) => [shown, words])} />
        <div class="row actions">
          <Button onClick={close}>Close</Button>
        </div>
      </Dialog>
    ),
  ]
}

const shownSecret = shared<{ secret: string; of: string; baseUrl: string } | undefined>(undefined)

/** Shows a new secret, whose hash was sent, until the user confirms that it is stored, even if the page changes meanwhile. */
export function useNewSecret() {
  const { base_url: baseUrl } = identityHere()
  // Made once: after a lost answer the request is sent again with the same hash.
  const made = useRef<NewSecret | undefined>(undefined)
  return async (send: (told: NewSecret['told']) => Promise<KeyWithSecret>) => {
    made.current ??= await newSecret(BRAND.keyPrefix)
    const { secret, told } = made.current
    const { name } = await send(told)
    shownSecret.set({ secret, of: name, baseUrl })
  }
}

/** Stands above all pages, so that going back does not lose the only copy. */
export function SecretDialog() {
  const shown = shownSecret.use()
  useEffect(() => {
    if (!shown) return
    const asked = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', asked)
    return () => removeEventListener('beforeunload', asked)
  }, [shown])
  if (!shown) return null
  return (
    <Dialog title={`The secret of ${shown.of}`}>
      <p>
        It was made in this window and sent to nobody: the gateway has its hash only. When this dialog closes, nothing
        can show it any more.
      </p>
      <code class="raised secret">{shown.secret}</code>
      <p class="quiet">
        Base URL for SDKs: <code>{shown.baseUrl}</code>
      </p>
      <div class="row wrap actions">
        <CopyButton text={() => shown.secret} what="the secret" label="Copy the secret" />
        <Button class="primary" onClick={() => shownSecret.set(undefined)}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  )
}
