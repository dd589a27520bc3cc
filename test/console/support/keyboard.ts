import type { Page } from 'playwright-core'

const MOST_STOPS = 80

/** The focused element, as a screen reader would call it. */
const FOCUSED = `(() => {
  const { activeElement } = document
  const name = activeElement?.getAttribute('aria-label') ?? activeElement?.labels?.[0]?.textContent ?? activeElement?.textContent
  return (name ?? '').trim()
})()`

type Name = string | RegExp
type Way = 'forwards' | 'back'

export type Keyboard = ReturnType<typeof keyboardOf>

/** An operator without a mouse. */
export function keyboardOf(page: Page) {
  let steps = 0
  return { steps: () => steps, key, write, tabTo, press, type, find }

  /** One key, or a chord. */
  async function key(name: string): Promise<void> {
    steps += 1
    await page.keyboard.press(name)
  }

  /** Into the focused field; it counts as one key. */
  async function write(text: string): Promise<void> {
    steps += 1
    await page.keyboard.insertText(text)
  }

  async function tabTo(name: Name, way: Way = 'forwards'): Promise<void> {
    const passed: string[] = []
    for (let stops = 0; stops < MOST_STOPS; stops++) {
      const focused = await page.evaluate<string>(FOCUSED)
      if (typeof name === 'string' ? focused === name : name.test(focused)) return
      passed.push(focused.slice(0, 40))
      await key(way === 'back' ? 'Shift+Tab' : 'Tab')
    }
    throw new Error(`No Tab leads to ${name}, but to ${passed.join(' | ')}.`)
  }

  async function press(name: Name, way?: Way): Promise<void> {
    await tabTo(name, way)
    await key('Enter')
  }

  /** Replaces what is in a field. */
  async function type(name: Name, text: string): Promise<void> {
    await tabTo(name)
    await key('ControlOrMeta+A')
    await write(text)
  }

  /** Goes by the search, from wherever the focus is. */
  async function find(text: string): Promise<void> {
    await key('/')
    await key('ControlOrMeta+A')
    await write(text)
    await key('Enter')
  }
}
