import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

export type ConsoleFile = { readonly path: string; readonly type: string; readonly body: Uint8Array }

export const BUNDLE_OPTIONS = {
  // Aliases are looked for from here, wherever the command is run.
  absWorkingDir: pathOf('..'),
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  target: 'es2023',
  charset: 'utf8',
  // Browsers have no Buffer.
  alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' },
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: [pathOf('jsx.ts')],
  define: { WAYBILL_PACKAGE: 'false' },
  // The type checker's settings name the automatic runtime.
  tsconfigRaw: '{}',
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%231f4fd8'/%3E%3Cpath d='M5 8l3.2 8L12 9l3.8 7L19 8' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E"

export function htmlOf(title: string, head: string, body = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title><link rel="icon" href="${ICON}">${head}</head><body>${body}</body></html>`
}

/** The page, its style sheet and its scripts, made anew whenever the server starts: there is no build to forget. */
export async function buildConsole(options: BuildOptions = {}): Promise<readonly ConsoleFile[]> {
  const { outputFiles } = await build({
    ...BUNDLE_OPTIONS,
    ...options,
    write: false,
    entryPoints: [
      { in: pathOf('main.tsx'), out: 'console' },
      { in: pathOf('styles.css'), out: 'console' },
    ],
    chunkNames: 'console-[hash]',
    splitting: true,
    outdir: pathOf('.'),
  })
  const head = '<link rel="stylesheet" href="/console.css"><script type="module" src="/console.js"></script>'
  return [
    { path: '/', type: 'text/html; charset=utf-8', body: new TextEncoder().encode(htmlOf('Waybill', head)) },
    ...outputFiles.map(({ path, contents: body }) => {
      const type = path.endsWith('.css') ? 'text/css' : 'text/javascript'
      return { path: `/${basename(path)}`, type: `${type}; charset=utf-8`, body }
    }),
  ]
}

export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
