import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { asCurl } from '../../console/pages/playground/as-code.ts'
import { shellPath, shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { keyFor } from '../../layers/gateway/domain/routing/provider-secret.ts'
import { bootstrapOf, deployOf } from '../../layers/terminal/how-to-run.ts'
import { emptyFolder } from '../support/processes.ts'

const HOSTILE = [
  '',
  "'",
  "it's",
  "'; touch x; '",
  "\\'; touch x; '",
  "\\\\'$(touch x)",
  '$(touch x)',
  '`touch x`',
  '"; touch x; "',
  'a\ntouch x\n',
  'a;touch x',
  'a&&touch x||touch y',
  'a|touch x',
  'a>x',
  '<(touch x)',
  '#touch',
  '~',
  '=touch',
  '*',
  '{a,b}',
  '!!',
  '$HOME',
  'a b\tc',
  'ends with \\',
  'é…\u{1f600}',
  "'\\''",
]
const SHELLS = ['bash', 'dash', 'zsh', 'fish'].filter(
  (name) => existsSync(`/usr/bin/${name}`) || existsSync(`/bin/${name}`),
)

/** The words that a program of this name is given, and the files that running the line made. */
function given(shell: string, program: string, line: string): { words: string[]; files: string[] } {
  const folder = emptyFolder()
  const tell =
    shell === 'fish' ? `function ${program}; printf '%s\\0' $argv; end` : `${program}() { printf '%s\\0' "$@"; }`
  const told = execFileSync(shell, ['-c', `${tell}\n${line}`], { cwd: folder, encoding: 'utf8' })
  return { words: told.split('\0').slice(0, -1), files: readdirSync(folder) }
}

test.each(SHELLS)('%s takes every text as the one word that it is, and runs nothing', (shell) => {
  const { words, files } = given(shell, 'tell', `tell ${HOSTILE.map(shellWord).join(' ')}`)
  expect([words, files]).toEqual([HOSTILE, []])
})

test('plain words stay as they are', () => {
  const plain = [
    'gpt-4.1-mini',
    'key_01HZX',
    '/a/b.json',
    'https://a.example:8443/v1',
    'a=b',
    '-5',
    'a@b',
    '10%',
    '1,2+3',
  ]
  expect(plain.map(shellWord)).toEqual(plain)
})

test('a path is no option', () => {
  expect(['-x.json', '--force', 'a.json', "-'"].map(shellPath)).toEqual([
    './-x.json',
    './--force',
    'a.json',
    "'./-'\\'''",
  ])
})

describe('printed commands run nothing but themselves', () => {
  test.each(HOSTILE)('in curl: %j', (text) => {
    const body = { model: text, messages: [{ role: 'user' as const, content: `${text}\u009b\u007f` }] }
    const line = asCurl({ baseUrl: `http://127.0.0.1/${text}`, body })
    const { words, files } = given('bash', 'curl', line)
    expect([words[0], JSON.parse(words.at(-1) ?? ''), files]).toEqual([
      `http://127.0.0.1/${text}/chat/completions`,
      body,
      [],
    ])
    expect(line).not.toMatch(/[\u007f-\u009f]/)
  })

  test.each([...HOSTILE, 'prod'])('of a stage: %j', (stage) => {
    expect(given('bash', 'npm', deployOf(shellWord(stage)))).toEqual({
      words: ['run', 'deploy', '--', '-c', `stage=${stage}`],
      files: [],
    })
    expect(given('bash', 'npx', bootstrapOf(shellWord(stage))).words.at(-1)).toBe(`stage=${stage}`)
  })

  test.each(["x'$(touch)'", 'x`touch`', 'x";touch'])('of a secret for the host %s', (host) => {
    const baseUrl = `https://${host}.example/v1`
    const failure = tryKey(() => keyFor("a'b", { key: 'k', hosts: ['other.example'] }, baseUrl))
    const { words, files } = given('bash', 'aws', failure.slice(failure.indexOf('aws ')))
    expect([words[3], JSON.parse(words[5] ?? ''), files]).toEqual([
      "a'b",
      { key: 'THE KEY', hosts: [new URL(baseUrl).host] },
      [],
    ])
  })
})

function tryKey(run: () => string): string {
  try {
    return run()
  } catch (error) {
    return (error as Error).message
  }
}
