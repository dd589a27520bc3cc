import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { completionsOf } from '../../cli/commands/completion.ts'
import { programFor } from '../../cli/main.ts'
import { thisTerminal } from '../../layers/terminal/terminal.ts'
import { waybill } from '../support/command-line.ts'
import { emptyFolder } from '../support/processes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const program = programFor({ terminal: thisTerminal(), fail: () => {}, openAdmin: undefined })
const complete = (...words: string[]) => completionsOf(program, words)

function everyCommand(command: Command, path: readonly string[] = []): [path: readonly string[], command: Command][] {
  return command.commands.flatMap((one) => {
    const its = [...path, one.name()]
    return [[its, one] as [readonly string[], Command], ...everyCommand(one, its)]
  })
}

test('every command, and every option of it, is completed', () => {
  const all = everyCommand(program).filter(([[first]]) => first !== 'complete')
  expect(all.length).toBeGreaterThan(30)
  for (const [path, command] of all) {
    expect(complete(...path)).toContain(command.name())
    expect(complete(...path, '--')).toEqual(expect.arrayContaining(command.options.map(({ long }) => long)))
    expect(complete(...path, '--')).toContain('--stage')
  }
})

test('completions are of the word that is typed: values of an option, choices of an argument, never a hidden command', () => {
  expect(complete('usage', 'summary', '--by', 'p')).toEqual(['provider'])
  expect(complete('--stage', 'prod', 'usage', 's')).toEqual(['show', 'summary'])
  expect(complete('usage', 'summary', '--from', 'last')).toEqual(['last-month'])
  expect(complete('catalog', 'prices', '--from', '')).toEqual([])
  expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(complete('keys', 'show', '')).toEqual([])
  expect(complete('comp')).toEqual(['completion'])
  expect(complete('--v')).toEqual(['--version'])
})

const testWithBash = spawnSync('bash', ['--version']).status === 0 ? test : test.skip

testWithBash('bash completes with the script that waybill completion prints', async () => {
  const folder = emptyFolder()
  const { stdout: script } = await waybill(folder, ['completion', 'bash'])
  const program = join(folder, 'waybill')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'waybill.js')}' "$@"\n`)
  chmodSync(program, 0o755)
  const typed = 'COMP_WORDS=(waybill usage su); COMP_CWORD=2; _waybill; printf "%s\\n" $COMPREPLY'
  const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${typed}\ncomplete -p waybill`], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  })
  expect([stdout, stderr]).toEqual(['summary\ncomplete -o default -F _waybill waybill\n', ''])
})

test.each(['zsh', 'fish'])('the script for %s asks waybill for the words', async (shell) => {
  const { code, stdout } = await waybill(emptyFolder(), ['completion', shell])
  expect([code, stdout]).toEqual([0, expect.stringContaining('waybill complete -- ')])
})
