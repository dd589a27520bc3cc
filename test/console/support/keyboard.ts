import type { Page } from 'playwright-core'

/** An operator without a mouse. */
export type Keyboard = {
  /** Tab, forwards or back, until what has the focus is called so. */
  tabTo(name: string | RegExp, way?: 'forwards' | 'back'): Promise<void>
  /** Tabs there and presses Enter. */
  press(name: string | RegExp, way?: 'forwards' | 'back'): Promise<void>
  /** Tabs to a field and replaces what is in it. */
  type(name: string | RegExp, text: string): Promise<void>
  /** By the search, from wherever the focus is. */
  find(text: string): Promise<void>
  /** One key, or a chord. */
  key(name: string): Promise<void>
  /** Into the focused field. */
  write(text: string): Promise<void>
  /** Keys pressed so far; a text that was typed counts as one. */
  steps(): number
}

const MOST_STOPS = 80

/** The focused element, as a screen reader would call it. */
const FOCUSED = `(() => {
  const { activeElement } = document
  const name = activeElement?.getAttribute('aria-label') ?? activeElement?.labels?.[0]?.textContent ?? activeElement?.textContent
  return (name ?? '').trim()
})()`

export function keyboardOf(page: Page): Keyboard {
  let steps = 0
  const keyboard: Keyboard = {
    steps: () => steps,
    async key(name) {
      steps += 1
      await page.keyboard.press(name)
    },
    async write(text) {
      steps += 1
      await page.keyboard.insertText(text)
    },
    async tabTo(name, way = 'forwards') {
      const passed: string[] = []
      for (let stops = 0; stops < MOST_STOPS; stops++) {
        const focused = await page.evaluate<string>(FOCUSED)
        if (typeof name === 'string' ? focused === name : name.test(focused)) return
        passed.push(focused.slice(0, 40))
        await keyboard.key(way === 'back' ? 'Shift+Tab' : 'Tab')
      }
      throw new Error(`No Tab leads to ${name}, but to ${passed.join(' | ')}.`)
    },
    async press(name, way) {
      await keyboard.tabTo(name, way)
      await keyboard.key('Enter')
    },
    async type(name, text) {
      await keyboard.tabTo(name)
      await keyboard.key('ControlOrMeta+A')
      await keyboard.write(text)
    },
    async find(text) {
      await keyboard.key('/')
      await keyboard.key('ControlOrMeta+A')
      await keyboard.write(text)
      await keyboard.key('Enter')
    },
  }
  return keyboard
}
