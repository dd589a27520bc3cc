import { useEffect, useRef } from 'preact/hooks'
import { BRAND } from '../../layers/gateway/contract.ts'
import { go } from '../router.ts'

const SECRET = new RegExp(`${BRAND.keyPrefix}\\w{20,}`)

export function SearchBox() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const text = input.current?.value.trim()
    if (!text || !input.current) return
    // An operator may search for a leaked secret: it stays out of the address and of every request.
    const isSecret = SECRET.test(text)
    if (isSecret) input.current.value = ''
    go(['search'], { q: isSecret ? text.slice(-4) : text })
  }
  return (
    <search>
      <form onSubmit={submit}>
        <input
          ref={input}
          type="search"
          aria-label="Search by request id, key id, external id, name or last four"
          aria-keyshortcuts="/"
          placeholder="Search requests, keys ( / )"
          autocomplete="off"
          spellcheck={false}
        />
      </form>
    </search>
  )
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select')
}
