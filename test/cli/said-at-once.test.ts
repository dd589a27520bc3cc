import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { main } from '../../cli/main.ts'
import { emptyFolder } from '../support/processes.ts'
import { openBoth, openLocalAdmin } from '../support/stack.ts'

const { gateway } = await openBoth()
const folder = emptyFolder()
mkdirSync(join(folder, '.waybill'))
writeFileSync(join(folder, '.waybill', 'local.json'), JSON.stringify(await openLocalAdmin(gateway)))

/** A command, and the line that is typed at its question; none is typed where there is no terminal. */
async function run(args: readonly string[], typed?: string) {
  const input = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
  const [output, errors] = [new PassThrough(), new PassThrough()]
  if (typed !== undefined) input.end(`${typed}\n`)
  const streams = { input, output, errors, folder, env: { XDG_CONFIG_HOME: '/nonexistent' } }
  const code = await main([...args, '--local'], streams)
  output.end()
  errors.end()
  return { code, told: await text(output), asked: await text(errors) }
}

await gateway.issue({ name: 'taken', credits: '5' })
await gateway.openAccount({ name: 'firm', credits: '0' })
await gateway.issue({ name: 'twin' })
await gateway.openAccount({ name: 'twins' })
await run(['keys', 'grant', 'taken', '3'])
await run(['accounts', 'grant', 'firm', '3'])

const CHANGES: [command: string, warning: string][] = [
  ['keys create --name a --models test-modell', "The catalog has no model 'test-modell'. Did you mean 'test-model'?"],
  ['keys create --name b --models claude-*', "No model of the catalog matches 'claude-*'."],
  ['keys create --name twin', "is called 'twin', too"],
  ['keys create --name c --notify-below 5', 'Nobody receives notices here'],
  ['keys update taken --models nope', "The catalog has no model 'nope'."],
  ['keys grant taken 3', 'this is the same amount again, without a reference'],
  ['accounts create --name twins', "is called 'twins', too"],
  ['accounts update firm --notify-below 5', 'Nobody receives notices here'],
  ['accounts grant firm 3', 'this is the same amount again, without a reference'],
  ['plans create --name gold --models nope', "The catalog has no model 'nope'."],
]

test.each(CHANGES)(
  'waybill %s is asked about on a terminal, refused where nobody can be asked, and done with --yes',
  async (command, warning) => {
    const args = command.split(' ')
    const events = async () => JSON.parse((await run(['events', 'list', '--json', '--limit', '500'])).told).data.length
    const before = await events()
    const alone = await run(args)
    expect([alone.code, alone.told]).toEqual([1, ''])
    expect(alone.asked).toContain(warning)
    expect(alone.asked).toContain('Nobody is at a terminal to be asked, so nothing was changed. Add --yes to go on.')
    const no = await run(args, 'n')
    expect([no.code, no.asked]).toEqual([1, expect.stringContaining(`warning: `)])
    expect(no.asked).toContain('This changes the stage local: do it in spite of the warning. Go on? [y/N] ')
    expect(await events()).toBe(before)
    const done = await run([...args, '--yes'])
    expect([done.code, done.asked]).toEqual([0, expect.stringContaining(warning)])
    expect(await events()).toBe(before + 1)
  },
)

test('an answer at the question does it once', async () => {
  const { code, told } = await run(['keys', 'create', '--name', 'taken', '--json'], 'y')
  expect([code, JSON.parse(told)]).toEqual([0, expect.objectContaining({ name: 'taken', replayed: false })])
})

test('a plan that is as it was has no new version', async () => {
  await run(['plans', 'create', '--name', 'silver', '--factor', '2'])
  const { asked, told } = await run(['plans', 'update', 'silver', '--factor', '2'])
  expect([asked, told]).toEqual(['It is as it was.\n', expect.stringContaining('silver')])
})
