import { useRef, useState } from 'preact/hooks'
import { useListener } from './use-load.ts'

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
