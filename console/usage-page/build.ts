import { createHash } from 'node:crypto'
import { buildSync } from 'esbuild'
import { BUNDLE_OPTIONS, htmlOf, pathOf } from '../build.ts'

/** The page in one piece: its policy names the script and the style sheet by their hashes. */
export type UsagePage = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

let built: UsagePage | undefined

/** Made once in a process, when it is asked for: there is no build to forget. */
export function usagePage(): UsagePage {
  built ??= build()
  return built
}

function build(): UsagePage {
  const { outputFiles } = buildSync({
    ...BUNDLE_OPTIONS,
    entryPoints: [pathOf('usage-page/main.tsx'), pathOf('usage-page/styles.css')],
    outdir: pathOf('usage-page'),
  })
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ''
  const [script, style] = [textOf('.js'), textOf('.css')]
  const body = htmlOf('Usage', `<style>${style}</style>`, `<script type="module">${script}</script>`)
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
