import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useOwnId } from './field.tsx'
import { focusHeading } from './page.tsx'

type Props = {
  readonly title: string
  readonly children: ComponentChildren
  /** Also called for Escape. Without it only the dialog's own buttons close it. */
  readonly onClose?: (() => void) | undefined
}

/** The browser's own modal dialog: it keeps the focus inside, and gives it back to the button that opened it. */
export function Dialog({ title, children, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useOwnId()
  useLayoutEffect(() => {
    const own = dialog.current
    own?.showModal()
    return () => {
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
        if (event.key === 'Escape') cancelled(event)
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  )
}
