import { useRef, useState } from 'preact/hooks'
import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { go, queryText } from '../router.ts'
import { modelsIn } from './models.ts'
import { isKey, leave, list, search, stepOf, useShortcut } from './shortcuts.ts'
import { askedText, isWorthAsking, type Sources, type Suggestion, suggestionsFor } from './suggest.ts'
import { useLoad, usePaused } from './use-load.ts'

const TYPING_MS = 150

export function SearchBox() {
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  const sources = useSources(askedText(typed), isOpen)
  const suggestions = isOpen ? suggestionsFor(typed, sources) : []
  useShortcut(search, () => {
    input.current?.focus()
    input.current?.select()
  })
  const close = () => {
    setTyped('')
    setOpen(false)
    setAt(0)
  }
  const take = ({ href }: Suggestion) => {
    close()
    location.hash = href
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const now = input.current?.value ?? ''
    const text = askedText(now, true)
    const chosen = suggestionsFor(now, sources)[at]
    if (now.trim() && chosen) return take(chosen)
    close()
    if (text) go(['search'], { q: text })
  }
  const pressed = (event: KeyboardEvent) => {
    const by = stepOf(event, list)
    if (by !== undefined && suggestions.length > 0) {
      event.preventDefault()
      setOpen(true)
      setAt((at + by + suggestions.length) % suggestions.length)
    }
    if (isKey(event, leave)) close()
  }
  return (
    <search>
      <form onSubmit={submit}>
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label="Search pages, acts, customers, keys, requests and models"
          aria-keyshortcuts={search[0].join(' ')}
          aria-autocomplete="list"
          aria-expanded={suggestions.length > 0}
          aria-controls="suggestions"
          aria-activedescendant={suggestions.length > 0 ? `suggestion-${at}` : undefined}
          placeholder="Search or jump to… ( / )"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setOpen(true)
            setAt(0)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={pressed}
        />
      </form>
      <div
        id="suggestions"
        class="suggestions floating panel"
        role="listbox"
        aria-label="Suggestions"
        hidden={suggestions.length === 0}
      >
        {suggestions.map((suggestion, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
          <div
            key={suggestion.href + suggestion.text}
            id={`suggestion-${i}`}
            class="row"
            role="option"
            aria-selected={i === at}
            // A click would take the focus first, and with it the list.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(suggestion)}
          >
            <span class="clip">{suggestion.text}</span>
            {suggestion.more && <span class="quiet"> {suggestion.more}</span>}
            <span class="quiet small push">{suggestion.kind}</span>
          </div>
        ))}
      </div>
    </search>
  )
}

/** The models are read when the list first opens, and keys as they are typed. A failure makes no suggestion. */
function useSources(text: string, isOpen: boolean): Sources {
  const wasOpen = useRef(false)
  wasOpen.current ||= isOpen
  const catalog = useLoad<CatalogShape>(wasOpen.current ? '/catalog' : null)
  const asked = usePaused(text, TYPING_MS)
  const found = useLoad<SearchShape>(isOpen && isWorthAsking(asked) ? `/search?${queryText({ q: asked })}` : null)
  return {
    models: modelsIn(catalog.data?.catalog).map(({ id }) => id),
    found: found.data && { text: asked, answer: found.data },
  }
}
