import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { confirmer } from '../../layers/terminal/confirm.ts'
import { actAt } from '../support/act.ts'
import { catalogFor } from '../support/gateway.ts'
import { type Ended, emptyFolder } from '../support/processes.ts'
import { openBoth, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'

const CATALOG = join(emptyFolder(), 'catalog.json')
const { gateway } = await openBoth()
await writeCatalog(gateway.tables)(catalogFor('http://127.0.0.1:1', { id: 'second' }), actAt())
const [prod, dev] = await Promise.all([
  openStage(gateway.tables, gateway.baseUrl, 'prod'),
  openStage(gateway.tables, gateway.baseUrl),
])
writeFileSync(CATALOG, JSON.stringify(catalogFor('http://127.0.0.1:1', { id: 'other' })))
let key: Key
beforeEach(async () => {
  key = (await gateway.issue({ name: 'acme' })).key
})

const on = (stage: Stage, name: string, args: readonly string[]): Promise<Ended> =>
  stage.waybill([...args, '--stage', name])

/** KEY stands for one that is called acme, and ACCOUNT for one that is called firm. */
const CHANGES: [command: string, asked: string][] = [
  ['keys create --name new --credits 2.5', 'create a key \\(new\\) with 2\\.5 credits'],
  ['keys update KEY --rpm 7', 'update KEY \\(rpm\\)'],
  ['keys grant KEY 5', 'grant 5 credits to KEY'],
  ['keys rotate KEY', 'rotate KEY'],
  ['keys rotate KEY --grace 0', 'rotate KEY, and end its secret ….{4} at once'],
  ['keys suspend KEY', 'suspend KEY'],
  ['keys resume KEY', 'resume KEY'],
  ['keys end-grace KEY', 'end the old secret of KEY'],
  ['keys revoke KEY', 'revoke KEY'],
  ['keys adopt KEY --account ACCOUNT', 'move KEY into acct_\\w+ \\(firm\\), for good'],
  ['accounts create --name new --credits 2.5', 'create an account \\(new\\) with 2\\.5 credits'],
  ['accounts update ACCOUNT --note late', 'update ACCOUNT \\(note\\)'],
  ['accounts grant ACCOUNT 5', 'grant 5 credits to ACCOUNT'],
  ['accounts suspend ACCOUNT', 'suspend ACCOUNT'],
  ['accounts close ACCOUNT', 'close ACCOUNT and its 0 keys: 10 credits are left, and 0 are held for open requests'],
  ['catalog rollback 1', 'put version \\d+ of the catalog, with the content of version 1, in force'],
  [`catalog push ${CATALOG}`, 'put version \\d+ of the catalog in force'],
]

const everything = async () => [
  (await Array.fromAsync(listKeys(gateway.tables)())).sort((a, b) => (a.id < b.id ? -1 : 1)),
  await readStoredCatalog(gateway.tables)(),
]

test.each(CHANGES)(
  'waybill %s says to add --yes on a protected stage if nobody can be asked, and goes ahead with it, before the command or after it',
  async (command, asked) => {
    const account = async () => (await gateway.openAccount({ name: 'firm' })).id
    const args = (id: string, of: string) => command.replace('KEY', id).replace('ACCOUNT', of).split(' ')
    const firm = await account()
    const change = asked.replace('KEY', `${key.id} \\(acme\\)`).replace('ACCOUNT', `${firm} \\(firm\\)`)
    const before = await everything()
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await on(prod, 'prod', [...args(key.id, firm), ...more])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(new RegExp(`This changes the stage prod: ${change}\\..*nothing was changed.*--yes`))
    }
    expect(await everything()).toEqual(before)
    const done = [
      await on(prod, 'prod', ['--yes', ...args(key.id, firm), '--json']),
      await on(prod, 'prod', [...args((await gateway.issue()).key.id, await account()), '--yes', '--json']),
    ]
    for (const { code, stdout } of done) expect([code, JSON.parse(stdout)]).toEqual([0, expect.any(Object)])
  },
)

test('a change of a protected stage by a process without a terminal is refused with exit code 1', async () => {
  const args = ['keys', 'revoke', key.id, '--stage', 'prod']
  const { code, stdout, stderr } = await prod.start('cli/waybill.ts', args).ended
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/Nobody is at a terminal to be asked, so nothing was changed\. Add --yes to go on\.\n$/)
  expect((await gateway.readKey(key.id)).status).toBe('active')
})

test('a command that only reads a protected stage asks nothing, and one for a key that does not exist says that first', async () => {
  expect(await on(prod, 'prod', ['keys', 'show', key.id])).toMatchObject({ code: 0, stderr: '' })
  expect((await on(prod, 'prod', ['keys', 'revoke', 'key_nope'])).stderr).toMatch(/^There is no key 'key_nope'/)
})

const revoke = async (stage: Stage, name: string, Protected: string) => {
  const { outputs } = stage
  stage.outputs = { ...outputs, Protected }
  const { code } = await on(stage, name, ['keys', 'revoke', (await gateway.issue()).key.id])
  stage.outputs = outputs
  return code === 1
}

test('a stage is protected if its stack says so, whatever its name', async () => {
  expect(await revoke(dev, 'dev', 'false')).toBe(false)
  expect(await revoke(dev, 'dev', 'true')).toBe(true)
  expect(await revoke(prod, 'prod', 'true')).toBe(true)
  expect(await revoke(prod, 'prod', 'false')).toBe(false)
})

describe('the question before a change', () => {
  /** A terminal at which this is typed. */
  async function typed(line: string | undefined, guard = {}) {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = new PassThrough()
    const confirm = confirmer({ stage: 'prod', isProtected: true, yes: false, ...guard }, { input, output })
    if (line === undefined) input.end()
    else input.write(`${line}\n`)
    const outcome = await confirm(() => 'revoke key_1 (acme)').then(
      () => 'go on',
      (error: Error) => error.message,
    )
    output.end()
    return { outcome, asked: await text(output) }
  }

  test.each(['y', 'Y', 'yes', ' y '])('a change of a protected stage is made after the answer %j', async (line) => {
    expect(await typed(line)).toEqual({
      outcome: 'go on',
      asked: 'This changes the stage prod: revoke key_1 (acme). Go on? [y/N] ',
    })
  })

  test.each(['', 'n', 'no', 'yep', 'key_1', undefined])(
    'a change of a protected stage is not made after the answer %j',
    async (line) => {
      expect((await typed(line)).outcome).toBe('Nothing was changed.')
    },
  )

  test('a change with --yes or of an unprotected stage asks no question', async () => {
    for (const guard of [{ yes: true }, { isProtected: false }]) {
      expect(await typed('n', guard)).toEqual({ outcome: 'go on', asked: '' })
    }
  })
})
