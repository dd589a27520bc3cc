import { useEffect, useState } from 'preact/hooks'

const ANNOUNCED = 'waybill:announced'

/** Announces an event: on the page for a moment, and to a screen reader. */
export function announce(text: string): void {
  dispatchEvent(new CustomEvent(ANNOUNCED, { detail: text }))
}

export function Announcements() {
  const [text, setText] = useState('')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const heard = (event: Event) => {
      setText((event as CustomEvent<string>).detail)
      clearTimeout(timer)
      timer = setTimeout(() => setText(''), 6000)
    }
    addEventListener(ANNOUNCED, heard)
    return () => removeEventListener(ANNOUNCED, heard)
  }, [])
  return (
    <p class="announced" role="status" aria-live="polite">
      {text}
    </p>
  )
}
