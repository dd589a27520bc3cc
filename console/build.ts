import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

export type ConsoleFile = { readonly path: string; readonly type: string; readonly body: Uint8Array }

/** The page's files by the path they are served at, and their total size. */
export type BuiltConsole = { readonly files: readonly ConsoleFile[]; readonly gzippedBytes: number }

/** One script and one style sheet, made anew whenever the server starts: there is no build to forget. */
export async function buildConsole(): Promise<BuiltConsole> {
  const { outputFiles } = await build({
    entryPoints: [pathOf('main.tsx'), pathOf('styles.css')],
    outdir: pathOf('.'),
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'transform',
    jsxFactory: 'h',
    jsxFragment: 'Fragment',
    inject: [pathOf('jsx.ts')],
    // The type checker's settings name the automatic runtime.
    tsconfigRaw: '{}',
    legalComments: 'none',
    logLevel: 'silent',
  })
  const page: ConsoleFile = { path: '/', type: 'text/html; charset=utf-8', body: await readFile(pathOf('index.html')) }
  const files = [page, ...outputFiles.map(({ path, contents }) => served(path, contents))]
  return { files, gzippedBytes: files.reduce((sum, { body }) => sum + gzipSync(body).length, 0) }
}

function served(path: string, body: Uint8Array): ConsoleFile {
  return path.endsWith('.css')
    ? { path: '/console.css', type: 'text/css; charset=utf-8', body }
    : { path: '/console.js', type: 'text/javascript; charset=utf-8', body }
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
