import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const TEXTS_AND_COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$|'[^'\n]*'|"[^"\n]*"|`[^`]*`/gm

/** The files of these folders that have such a place in their code. */
function filesWith(pattern: RegExp, folders: string): string[] {
  const files = globSync(`${folders}/**/*.{ts,tsx}`, { cwd: ROOT })
  return files
    .filter((file) => pattern.test(readFileSync(`${ROOT}/${file}`, 'utf8').replace(TEXTS_AND_COMMENTS, "''")))
    .toSorted()
}

// A change that adds such a place makes its texts plain there, with domain/plain-text.ts, and adds it here.

test('texts are printed at these places only, each of which makes them plain', () => {
  const writes = /process\.(stdout|stderr)\b|\bconsole\.|[(,:] *console\b|new Console\(|\b(output|errors)\.write\(/
  expect(filesWith(writes, '{functions,layers,cli,infra,local}')).toEqual(
    [
      // Asks before a change: plainText.
      'layers/terminal/confirm.ts',
      // Handed to functions that print through plainOutput.
      'infra/deploy/run-infra.ts',
      // Lines that are plain JSON already.
      'layers/gateway/platform/log/log.ts',
      // The help, which is fixed.
      'local/run-gateway.ts',
      // Painted lines: the welcome, of checked names, and those of humanLog.
      'local/start.ts',
      // Help and complaints of commander: plainText.
      // Scripts for shells, and the names of commands and options, which are fixed.
      'cli/commands/completion.ts',
      // Elapsed time and the command's own name.
      'layers/terminal/progress.ts',
      // Everything else for people: plainOutput.
      'layers/terminal/terminal.ts',
    ].toSorted(),
  )
})

test('the console reads answers at one place only, which makes their texts plain', () => {
  expect(filesWith(/JSON\.parse\(|\.json\(\)|\.text\(\)/, 'console')).toEqual([
    // Text that the operator typed.
    'console/pages/catalog/editor.tsx',
    'console/parts/use-draft.ts',
    'console/read-json.ts',
    // The token of the session, which nobody sees.
    'console/session.ts',
  ])
})
