import { useLayoutEffect } from 'preact/hooks'

type Shortcut = { readonly keys: readonly string[]; readonly shown: string; readonly words: string }

/** Every key that the console listens to: what listens asks here, and `?` shows it. Of a pair, the first goes back. */
export const SHORTCUTS = {
  search: { keys: ['/', 'Control+K', 'Meta+K'], shown: '/ or Ctrl K or ⌘ K', words: 'Search, or jump to a page' },
  help: { keys: ['?'], shown: '?', words: 'Show these shortcuts' },
  list: { keys: ['ArrowUp', 'ArrowDown'], shown: '↑ ↓', words: 'Go through suggestions or choices' },
  times: { keys: ['ArrowLeft', 'ArrowRight'], shown: '← →', words: 'Go through the times of a chart' },
  span: { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], shown: 'Shift ← →', words: 'Choose several of its times' },
  take: { keys: ['Enter'], shown: 'Enter', words: 'Take the suggestion, the choice or the times' },
  leave: { keys: ['Escape'], shown: 'Esc', words: 'Close the list or the dialog' },
} as const satisfies Readonly<Record<string, Shortcut>>

type Name = keyof typeof SHORTCUTS

function placeOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent, name: Name): number {
  const held = ctrlKey ? 'Control+' : metaKey ? 'Meta+' : shiftKey && key.length > 1 ? 'Shift+' : ''
  return (SHORTCUTS[name] as Shortcut).keys.indexOf(held + (key.length > 1 ? key : key.toUpperCase()))
}

export const isKey = (event: KeyboardEvent, name: Name) => placeOf(event, name) >= 0

export function stepOf(event: KeyboardEvent, name: Name): number | undefined {
  return [-1, 1][placeOf(event, name)]
}

/** Wherever the focus is; but a sign that is typed into a field is that sign, and a dialog has its own keys. */
export function useShortcut(name: Name, act: () => void): void {
  // At once with a page, whose first key may be this one.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { ctrlKey, metaKey, target } = event
      const isTyped = !(ctrlKey || metaKey) && (target as Element).matches?.('input, textarea, select')
      if (!isKey(event, name) || isTyped || document.querySelector('dialog[open]')) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
