import { readFileSync } from 'node:fs'
import { type RegisterHooksOptions, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../..', import.meta.url).href
const PACKAGES = `${ROOT}node_modules/`
const GLOBALS = new URL('./globals.ts', import.meta.url).href

let file = 0

/**
 * From here on every module of the tests is loaded anew. Those of the product stay, as on a warm instance, and so do packages:
 * what a module of the product keeps is good for every file. Tells which modules the file's tests may run.
 */
export function nextFile(): (url: string) => boolean {
  file += 1
  const mark = markOf(file)
  return (url) => isOurs(url) && (!isOfTests(url) || url.endsWith(mark))
}

const markOf = (number: number) => `test-file=${number}`

export const freshModules: RegisterHooksOptions = {
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: GLOBALS, format: 'module-typescript', shortCircuit: true }
    const found = next(specifier, context)
    if (!isOfTests(found.url) || !/\.[jt]s(\?|$)/.test(found.url) || !context.conditions.includes('import'))
      return found
    return { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}${markOf(file)}` }
  },
  load(url, context, next) {
    if (!isOfTests(url) || !url.includes('test-file=')) return next(url, context)
    return { format: 'module', source: sourceOf(fileURLToPath(url)), shortCircuit: true }
  },
}

const isOfTests = (url: string) => url.startsWith(`${ROOT}test/`)
const isOurs = (url: string) => url.startsWith(ROOT) && !url.startsWith(PACKAGES)

const sources = new Map<string, string>()

function sourceOf(path: string): string {
  const known = sources.get(path)
  if (known !== undefined) return known
  const text = readFileSync(path, 'utf8')
  const source = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text
  sources.set(path, source)
  return source
}
