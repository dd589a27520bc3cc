import { useEffect, useRef, useState } from 'preact/hooks'
import { BRAND } from '../../layers/gateway/contract.ts'
import { useIdentity } from '../identity.ts'
import { go, linkTo, type PageUrl } from '../router.ts'
import { chooseTheme, chosenTheme, type Theme } from '../theme.ts'
import { Button } from './button.tsx'

const SECRET = new RegExp(`${BRAND.keyPrefix}\\w{20,}`)
const PAGES = ['overview', 'keys', 'requests', 'usage', 'playground', 'books', 'catalog', 'routes', 'changes']

export function Header({ url }: { readonly url: PageUrl }) {
  const { stage, by, protected: isProtected } = useIdentity()
  const [current = 'overview'] = url.path
  const toMain = () => document.querySelector<HTMLElement>('h1')?.focus()
  return (
    <header class="top">
      <Button class="skip" onClick={toMain}>
        Skip to the page
      </Button>
      <div class="bar">
        <a class="brand" href={linkTo([])}>
          Waybill
        </a>
        <span class={isProtected ? 'badge warn' : 'badge'} title={`You act as ${by}`}>
          {stage}
        </span>
        <SearchBox />
        <ThemeSwitch />
      </div>
      <nav aria-label="Pages">
        {PAGES.map((name) => (
          <a key={name} href={linkTo([name])} aria-current={name === current ? 'page' : undefined}>
            {name.charAt(0).toUpperCase() + name.slice(1)}
          </a>
        ))}
      </nav>
    </header>
  )
}

function SearchBox() {
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
          placeholder="Request, key, name, last four ( / )"
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

function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme)
  const choose = (chosen: Theme) => {
    chooseTheme(chosen)
    setTheme(chosen)
  }
  return (
    <select aria-label="Colours" value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
      <option value="auto">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  )
}
