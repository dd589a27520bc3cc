import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useListener } from './use-load.ts'

type Props = {
  readonly onClick: () => void
  readonly class?: string
  readonly disabled?: boolean
  readonly 'aria-label'?: string
  readonly children: ComponentChildren
}

/** One that sends no form. */
export function Button(props: Props) {
  return <button type="button" {...props} />
}

type CopyProps = { readonly text: () => string; readonly what: string; readonly label?: string }

export function CopyButton({ text, what, label = 'Copy' }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      announce(`Copied ${what}.`)
    } catch {
      announce(`The browser did not let the page copy ${what}: select it by hand.`)
    }
  }
  return <Button onClick={() => void copy()}>{label}</Button>
}

const ANNOUNCED = 'waybill:announced'
const SHOWN_MS = 6000

/** Announces an event: on the page for a moment, and to a screen reader. */
export function announce(text: string): void {
  dispatchEvent(new CustomEvent(ANNOUNCED, { detail: text }))
}

export function Announcements() {
  const [text, setText] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useListener(ANNOUNCED, (event) => {
    setText((event as CustomEvent<string>).detail)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setText(''), SHOWN_MS)
  })
  return (
    <p class="announced" role="status" aria-live="polite">
      {text}
    </p>
  )
}
