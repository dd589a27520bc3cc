import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

type Props = {
  readonly label: string
  /** The choice, in words; without one the chip is only an offer. */
  readonly value: ComponentChildren
  readonly onClear?: (() => void) | undefined
  readonly children: (close: () => void) => ComponentChildren
}

const CONTROLS = 'input, button'

/** A filter as a chip. Pressed, it opens what there is to choose from; with a choice it can be removed. */
export function Picker({ label, value, onClear, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    frame.current?.querySelector('button')?.focus()
  }
  // Before the next key: one that is typed at once must not be lost.
  useLayoutEffect(() => {
    if (!isOpen || !panel.current) return
    keepInWindow(panel.current)
    panel.current.querySelector<HTMLElement>(CONTROLS)?.focus()
    const left = ({ target }: Event) => {
      if (!frame.current?.contains(target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', left)
    document.addEventListener('focusin', left)
    return () => {
      document.removeEventListener('pointerdown', left)
      document.removeEventListener('focusin', left)
    }
  }, [isOpen])
  const pressed = (event: KeyboardEvent) => {
    if (!isOpen) return
    if (event.key === 'Escape') close()
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined || !panel.current) return
    event.preventDefault()
    const controls = [...panel.current.querySelectorAll<HTMLElement>(CONTROLS)]
    controls[controls.indexOf(document.activeElement as HTMLElement) + by]?.focus()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a look and a legend of its own.
    <div class="picker" role="group" aria-label={label} ref={frame} onKeyDown={pressed}>
      <button
        type="button"
        class={value ? 'chip chosen' : 'chip'}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
        {value && <>: {value}</>}
      </button>
      {value && onClear && (
        <button type="button" class="chip chosen" aria-label={`Remove ${label}`} onClick={onClear}>
          ×
        </button>
      )}
      {isOpen && (
        <div class="picker-panel panel" role="dialog" aria-label={label} ref={panel}>
          {children(close)}
        </div>
      )}
    </div>
  )
}

/** A chip may be at the right edge. */
function keepInWindow(panel: HTMLElement): void {
  const beyond = panel.getBoundingClientRect().right - document.documentElement.clientWidth + 12
  if (beyond > 0) panel.style.left = `${-beyond}px`
}
