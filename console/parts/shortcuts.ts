import { useLayoutEffect } from 'preact/hooks'

type Shortcut = readonly [keys: readonly string[], shown: string, words: string]

// Every key that the console listens to: what listens asks here, and `?` shows it. Of a pair, the first goes back.
export const search: Shortcut = [['/', 'Control+K', 'Meta+K'], '/ or Ctrl K or ⌘ K', 'Search, or jump to a page']
export const help: Shortcut = [['?'], '?', 'Show these shortcuts']
export const list: Shortcut = [['ArrowUp', 'ArrowDown'], '↑ ↓', 'Go through suggestions or choices']
export const times: Shortcut = [['ArrowLeft', 'ArrowRight'], '← →', 'Go through the times of a chart']
export const span: Shortcut = [['Shift+ArrowLeft', 'Shift+ArrowRight'], 'Shift ← →', 'Choose several of its times']
export const take: Shortcut = [['Enter'], 'Enter', 'Take the suggestion, the choice or the times']
export const leave: Shortcut = [['Escape'], 'Esc', 'Close the list or the dialog']
export const SHORTCUTS = [search, help, list, times, span, take, leave]

function placeOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent, [keys]: Shortcut): number {
  const held = ctrlKey ? 'Control+' : metaKey ? 'Meta+' : shiftKey && key.length > 1 ? 'Shift+' : ''
  return keys.indexOf(held + (key.length > 1 ? key : key.toUpperCase()))
}

export const isKey = (event: KeyboardEvent, of: Shortcut) => placeOf(event, of) >= 0

export function stepOf(event: KeyboardEvent, of: Shortcut): number | undefined {
  return [-1, 1][placeOf(event, of)]
}

/** Wherever the focus is; but a sign that is typed into a field is that sign, and a dialog has its own keys. */
export function useShortcut(of: Shortcut, act: () => void): void {
  // At once with a page, whose first key may be this one.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { ctrlKey, metaKey, target } = event
      const isTyped = !(ctrlKey || metaKey) && (target as Element).matches?.('input, textarea, select')
      if (!isKey(event, of) || isTyped || document.querySelector('dialog[open]')) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
