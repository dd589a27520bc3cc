import { type Browser, chromium, type Page } from 'playwright-core'
import { BROWSER_PATH } from '../../support/programs.ts'

export function openBrowser(): Promise<Browser> {
  // Chromium refuses its own sandbox to root. Nothing here is drawn by a GPU, so no process is started for one.
  const args = ['--disable-gpu', '--in-process-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath: BROWSER_PATH ?? '', args })
}

export type WatchedPage = {
  readonly page: Page
  /** Every complaint of the browser: errors, warnings, violations of the policy. */
  readonly troubles: string[]
  /** Everything that left it: addresses, headers and bodies. */
  readonly sent: string[]
}

/** A window of its own. `script` runs in every page before its own. */
export async function openWatched(browser: Browser, script = ''): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  context.setDefaultTimeout(120_000)
  await context.addInitScript(script)
  const page = await context.newPage()
  const troubles: string[] = []
  const sent: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('request', (request) => {
    sent.push([request.url(), JSON.stringify(request.headers()), request.postData() ?? ''].join('\n'))
  })
  return { page, troubles, sent }
}

export type Look = { readonly colorScheme: 'light' | 'dark'; readonly width: number; readonly rules?: string }

/** The axe findings of a part of the page in a look, how far the page scrolls sideways, and tables with clipped columns. */
export async function faultsIn(page: Page, { colorScheme, width, rules = '' }: Look, part = 'html') {
  await Promise.all([page.emulateMedia({ colorScheme }), page.setViewportSize({ width, height: 900 })])
  return page.evaluate<{ wrong: string[]; beyond: number; clipped: string[] }>(`(async () => {
    const { violations } = await axe.run('${part}', { resultTypes: ['violations'], elementRef: false, ${rules} })
    return {
      wrong: violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
      beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      clipped: [...document.querySelectorAll('.scroll')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
        .map((table) => table.getAttribute('aria-label')),
    }
  })()`)
}
