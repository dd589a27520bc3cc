import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { BUNDLE_OPTIONS } from './bundle-options.ts'

export type ConsoleFile = { readonly path: string; readonly type: string; readonly body: Uint8Array }

/**
 * The page, its style sheet, its script, and a script for each group of pages and for what groups share. Made anew
 * whenever the server starts: there is no build to forget.
 */
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
  const page: ConsoleFile = { path: '/', type: 'text/html; charset=utf-8', body: await readFile(pathOf('index.html')) }
  return [page, ...outputFiles.map(({ path, contents }) => served(path, contents))]
}

function served(path: string, body: Uint8Array): ConsoleFile {
  const type = path.endsWith('.css') ? 'text/css' : 'text/javascript'
  return { path: `/${basename(path)}`, type: `${type}; charset=utf-8`, body }
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
