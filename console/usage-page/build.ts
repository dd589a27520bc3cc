import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { BUNDLE_OPTIONS } from '../bundle-options.ts'

/** The page in one piece: its policy names the script and the style sheet by their hashes. */
export type UsagePage = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%231f4fd8'/%3E%3Cpath d='M5 8l3.2 8L12 9l3.8 7L19 8' fill='none' stroke='%23fff' stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E"

let built: UsagePage | undefined

/** Made once in a process, when it is asked for: there is no build to forget. */
export function usagePage(): UsagePage {
  built ??= build()
  return built
}

function build(): UsagePage {
  const { outputFiles } = buildSync({
    ...BUNDLE_OPTIONS,
    entryPoints: [pathOf('main.tsx'), pathOf('styles.css')],
    outdir: pathOf('.'),
  })
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ''
  const [script, style] = [textOf('.js'), textOf('.css')]
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Usage</title><link rel="icon" href="${ICON}"><style>${style}</style></head><body><script type="module">${script}</script></body></html>`
  return { body, headers: headersOf(hashOf(script), hashOf(style)) }
}

/** The page runs no foreign code, and is not framed, kept or leaked in a Referer. */
function headersOf(script: string, style: string): UsagePage['headers'] {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `default-src 'none'; script-src '${script}'; style-src '${style}'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
