import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

/** Of every page that a browser loads. */
export const BUNDLE_OPTIONS = {
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  target: 'es2023',
  charset: 'utf8',
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: [fileURLToPath(new URL('jsx.ts', import.meta.url))],
  define: { WAYBILL_PACKAGE: 'false' },
  // The type checker's settings name the automatic runtime.
  tsconfigRaw: '{}',
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions
