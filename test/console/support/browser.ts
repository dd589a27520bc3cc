import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Debian's package, or none: playwright-core brings no browser of its own. */
export const BROWSER_PATH = process.env.WAYBILL_CHROMIUM ?? PATHS.find((path) => existsSync(path))

export function openBrowser(executablePath: string): Promise<Browser> {
  // Chromium refuses its own sandbox to root. Nothing here is drawn by a GPU, so no process is started for one.
  const args = ['--disable-gpu', '--in-process-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath, args })
}
