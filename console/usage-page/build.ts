import { createHash } from 'node:crypto'
import { buildSync } from 'esbuild'
import { BUNDLE_OPTIONS, htmlOf, pathOf } from '../build.ts'
import { homeBody, USAGE_LINK } from './home.ts'

/** A page in one piece: its policy names the script and the style sheet by their hashes. */
export type BuiltPage = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

let built: ReturnType<typeof build> | undefined

/** Made once in a process, when one is asked for: there is no build to forget. */
export function builtPages() {
  built ??= build()
  return built
}

function build() {
  const { outputFiles } = buildSync({
    ...BUNDLE_OPTIONS,
    entryPoints: [pathOf('usage-page/main.tsx'), pathOf('usage-page/styles.css')],
    outdir: pathOf('usage-page'),
  })
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ''
  const [script, style] = [textOf('.js'), textOf('.css')]
  const pageOf = (title: string, body: string) => ({
    body: htmlOf(title, `<style>${style}</style>`, body),
    headers: headersOf(hashOf(script), hashOf(style)),
  })
  return {
    usage: pageOf('Usage', `<script type="module">${script}</script>`),
    home: pageOf('Waybill', homeBody()),
    usageLink: USAGE_LINK,
  }
}

/** The page runs no foreign code, and is not framed, kept or leaked in a Referer. */
function headersOf(script: string, style: string): BuiltPage['headers'] {
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
