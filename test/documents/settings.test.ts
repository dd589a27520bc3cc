import { expect, test } from '@jest/globals'
import { Command } from 'commander'
import { SETTING_OPTIONS } from '../../operator/commands/key-setting-options.ts'
import { keysCommand } from '../../operator/commands/keys.ts'
import { tableOf } from './support/markdown.ts'

const program = new Command()
keysCommand(program, () => async () => {})
const optionsOf = (name: string) =>
  program.commands[0]?.commands.find((command) => command.name() === name)?.options ?? []

const rows = tableOf('docs/operate.md', '| setting | default | bounds |')

test('docs/operate.md has a row for each option of `keys create`, with its bounds', () => {
  const options = optionsOf('create')
  expect(rows.map(([option]) => option).toSorted()).toEqual(options.map(({ long }) => long).toSorted())
  for (const { long, parseArg } of options) {
    const [, least, most] = /number from (\d+) to (\d+)/.exec(complaintOf(parseArg)) ?? []
    const bounds = rows.find(([option]) => option === long)?.[2]?.replaceAll(',', '')
    if (least) expect(bounds).toContain(`${least} to ${most}`)
  }
})

test('each setting of a key has its option in `keys create` and in `keys update`', () => {
  const options = Object.values(SETTING_OPTIONS).map((option) => `--${option}`)
  expect(optionsOf('update').map(({ long }) => long)).toEqual(expect.arrayContaining(options))
  expect(optionsOf('create').map(({ long }) => long)).toEqual(expect.arrayContaining(options))
})

function complaintOf(parse: ((text: string, before: never) => unknown) | undefined): string {
  try {
    return String(parse?.('many', undefined as never))
  } catch (error) {
    return (error as Error).message
  }
}
