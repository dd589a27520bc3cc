import { type Browser, chromium } from 'playwright-core'

export function openBrowser(executablePath: string): Promise<Browser> {
  // Chromium refuses its own sandbox to root. Nothing here is drawn by a GPU, so no process is started for one.
  const args = ['--disable-gpu', '--in-process-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath, args })
}
