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
}

const MOST_STOPS = 80

/** The focused element, as a screen reader would call it. */
const FOCUSED = `(() => {
  const { activeElement } = document
  const name = activeElement?.getAttribute('aria-label') ?? activeElement?.labels?.[0]?.textContent ?? activeElement?.textContent
  return (name ?? '').trim()
})()`

export function keyboardOf(page: Page): Keyboard {
  const keyboard: Keyboard = {
    async tabTo(name, way = 'forwards') {
      const passed: string[] = []
      for (let stops = 0; stops < MOST_STOPS; stops++) {
        const focused = await page.evaluate<string>(FOCUSED)
        if (typeof name === 'string' ? focused === name : name.test(focused)) return
        passed.push(focused.slice(0, 40))
        await page.keyboard.press(way === 'back' ? 'Shift+Tab' : 'Tab')
      }
      throw new Error(`No Tab leads to ${name}, but to ${passed.join(' | ')}.`)
    },
    async press(name, way) {
      await keyboard.tabTo(name, way)
      await page.keyboard.press('Enter')
    },
    async type(name, text) {
      await keyboard.tabTo(name)
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.insertText(text)
    },
    async find(text) {
      await page.keyboard.press('/')
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.insertText(text)
      await page.keyboard.press('Enter')
    },
  }
  return keyboard
}
