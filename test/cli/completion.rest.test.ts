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
import { stageOfFile } from './support/commands.ts'

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

const { opened, shown } = await stageOfFile()
const at = ['--stage', 'dev']
const named = async (...words: string[]) => {
  const { code, stdout } = await opened.stage.waybill(['complete', '--', ...words])
  return [code, ...stdout.trimEnd().split('\n')]
}

test('names of keys, customers, plans, models and providers are completed, of the gateway that is named or chosen', async () => {
  await shown('accounts', 'create', '--name', 'firm')
  await shown('plans', 'create', '--name', 'gold')
  for (const name of ['acme', 'acme two', 'globex', 'acme gone']) await shown('keys', 'create', '--name', name)
  await shown('keys', 'revoke', 'acme gone')
  expect(await named(...at, 'keys', 'show', 'ac')).toEqual([0, 'acme two', 'acme'])
  expect(await named('usage', 'list', ...at, '--key', 'glo')).toEqual([0, 'globex'])
  expect(await named('keys', 'create', ...at, '--account', '')).toEqual([0, 'firm'])
  expect(await named('keys', 'create', ...at, '--plan', '')).toEqual([0, 'gold'])
  expect(await named('plans', 'show', ...at, 'g')).toEqual([0, 'gold'])
  expect(await named('usage', 'list', ...at, '--model', 'test')).toEqual([0, 'test-model'])
  expect(await named('keys', 'create', ...at, '--models', 'other,te')).toEqual([0, 'other,test-model'])
  expect(await named('reconcile', ...at, '--provider', '')).toEqual([0, 'up'])
  expect(await named(...at, 'keys', 'show', 'acme\\ t')).toEqual([0, 'acme two'])
})

test('where no names can be had nothing is offered, and nothing is said', async () => {
  const ended = await waybill(emptyFolder(), ['complete', '--', '--local', 'keys', 'show', ''])
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
})

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

testWithBash('bash completes a name, and quotes what has a blank', () => {
  const folder = emptyFolder()
  const program = join(folder, 'waybill')
  writeFileSync(program, '#!/bin/sh\nprintf "acme\\nacme two*\\n"\n')
  chmodSync(program, 0o755)
  const { stdout: script } = spawnSync(process.execPath, [join(ROOT, 'waybill.js'), 'completion', 'bash'], {
    encoding: 'utf8',
  })
  const typed = `COMP_WORDS=(waybill keys show ac); COMP_CWORD=3; _waybill; printf "%s\\n" "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${typed}`], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  })
  expect([stdout, stderr]).toEqual(['acme\nacme\\ two\\*\n', ''])
})
