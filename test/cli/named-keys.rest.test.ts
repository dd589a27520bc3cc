import { describe, expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { findId } from '../../cli/commands/find-key.ts'
import { programFor } from '../../cli/main.ts'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { thisTerminal } from '../../layers/terminal/terminal.ts'
import { stageOfFile } from './support/commands.ts'

const { opened, shown, json, refused } = await stageOfFile()
const create = (name: string, ...args: string[]) => json<KeyWithSecret>('keys', 'create', '--name', name, ...args)
const acme = await create('acme', '--external-id', 'cus_1', '--credits', '2', '--rpm', '600')

describe('a key', () => {
  test('is found by its id, name, external id and last four', async () => {
    for (const text of [acme.id, 'acme', 'cus_1', acme.last_four]) {
      expect(await json('keys', 'show', text)).toMatchObject({ id: acme.id })
    }
  })

  test('that is not one key is refused, and all that are called so are named', async () => {
    const twins = [await create('twin'), await create('twin')]
    const told = await refused('keys', 'revoke', 'twin')
    expect(told).toContain("'twin' is not one key")
    for (const { id, last_four } of twins) expect(told).toContain(`${id}  twin (active, …${last_four})`)
    await shown('keys', 'revoke', twins[0]?.id ?? '')
    // Now the name is that of one key again.
    expect(await json('keys', 'show', 'twin')).toMatchObject({ id: twins[1]?.id })
  })

  test('that does not exist is refused with those that have a similar name', async () => {
    expect(await refused('keys', 'show', 'ACM')).toMatch(/There is no key 'ACM'\. Did you mean one of these\?\n.*acme/)
    for (const text of ['nobody', 'key_nope', 'no such/key?']) {
      const told = `There is no key '${text}'. 'waybill keys list' shows those that exist.\n`
      for (const verb of ['show', 'revoke']) expect(await refused('keys', verb, text)).toBe(told)
    }
  })

  test('is found among more keys than a search tells', async () => {
    const named = (id: string, name: string) => ({ id, name, status: 'active', last_four: 'xxxx' })
    const keys = Array.from({ length: 120 }, (_, i) => named(`key_${i}`, `a${i}`))
    const admin = {
      get: async () => ({ keys: keys.slice(0, 20) }),
      list: async () => ({ data: [...keys, named('key_meant', 'a')] }),
    } as unknown as Parameters<typeof findId>[0]
    expect(await findId(admin, 'key', 'a')).toBe('key_meant')
  })

  test('is named so by every filter', async () => {
    for (const command of ['usage list', 'usage summary', 'usage export --from today', 'audit', 'events list']) {
      const filter = command.split(' ')
      expect(await refused(...filter, '--key', 'nobody')).toContain("There is no key 'nobody'")
      await shown(...filter, '--key', 'acme')
    }
  })

  /** The command line finds keys by the names of arguments and options. */
  test('is called key wherever a command takes one', () => {
    const program = programFor({ terminal: thisTerminal(), fail: () => {}, openAdmin: undefined })
    const names = everyCommand(program).flatMap((command) => [
      ...command.registeredArguments.map((argument) => argument.name()),
      ...command.options.filter(({ long }) => long === '--key').map(({ flags }) => flags),
    ])
    const others =
      'account admin-key config credits file from model plan request-id shell stage to version words'.split(' ')
    expect([...new Set(names)].toSorted()).toEqual(['--key <key>', 'key', ...others].toSorted())
  })
})

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

describe('a change', () => {
  test('prints its fields before and after, and not the whole key', async () => {
    expect(await shown('keys', 'update', 'acme', '--rpm', '900', '--note', 'vip')).toBe(
      `acme (${acme.id}) is changed:\n  rpm 600 → 900\n  note none → vip\n`,
    )
    expect(await shown('keys', 'update', 'acme', '--rpm', '900')).toBe(
      `acme (${acme.id}) is as it was. Nothing was changed.\n`,
    )
    expect(await shown('keys', 'grant', 'acme', '3')).toBe(
      `acme (${acme.id}) is changed:\n  granted 2 → 5\n  available 5\n`,
    )
    expect(await shown('keys', 'rotate', 'acme')).toMatch(
      new RegExp(
        `is changed:\n  secret …${acme.last_four} → …\\w{4}\n  old secret …${acme.last_four} valid until .*\n\nsvc_live_`,
      ),
    )
    expect(await shown('keys', 'end-grace', 'acme')).toMatch(/\n {2}only the secret …\w{4} is valid now\n$/)
    const { id } = await create('gone')
    expect(await shown('keys', 'revoke', 'gone')).toBe(`gone (${id}) is changed:\n  status active → revoked\n`)
  })

  test('of an admin key is told by its name, and only so much', async () => {
    const options = ['--scopes', 'usage.read', '--allow', '203.0.113.0/24', '--daily-grant', '0']
    await shown('admin-keys', 'create', '--name', 'billing', ...options)
    expect(await shown('admin-keys', 'rotate', 'billing')).toMatch(/^billing \(adminkey_\w+\) is changed:\n {2}secret/)
    expect(await shown('admin-keys', 'revoke', 'billing')).toMatch(/is changed:\n {2}status active → revoked\n$/)
    expect(await refused('admin-keys', 'revoke', 'nobody')).toContain("There is no admin key 'nobody'")
  })
})

describe('on a terminal', () => {
  const onTerminal = (columns: number, ...args: string[]) =>
    opened.stage.onTerminal([...args, '--stage', 'dev'], columns, { NO_COLOR: '1' })

  test('keys list fits and has no ids, has everything with --wide, and a total', async () => {
    const lines = (await onTerminal(80, 'keys', 'list')).stdout.trimEnd().split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.join('\n')).not.toContain(acme.id)
    expect(lines.at(-1)).toMatch(/^total /)
    const { stdout } = await onTerminal(80, 'keys', 'list', '--wide')
    expect(stdout).toContain(acme.id)
    const piped = await shown('keys', 'list')
    expect([piped.includes(acme.id), piped.includes('external id')]).toEqual([false, true])
    expect(await shown('events', 'list')).toMatch(/^20\S+Z /m)
    expect((await onTerminal(80, 'events', 'list')).stdout).toMatch(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d /m)
  })

  test('a status has a colour, unless the output is a pipe', async () => {
    const { stdout } = await opened.stage.onTerminal(['keys', 'list', '--stage', 'dev'], 100)
    expect(stdout).toContain('\u001b[32mactive\u001b[39m')
    expect(await shown('keys', 'list')).not.toContain('\u001b')
    const failed = await opened.stage.onTerminal(['keys', 'show', 'nobody', '--stage', 'dev'], 100)
    expect(failed.stderr).toContain('\u001b[31mThere is no key')
  })

  test('--json is the same as in a pipe', async () => {
    const { stdout } = await opened.stage.onTerminal(['keys', 'list', '--json', '--stage', 'dev'], 40)
    expect((JSON.parse(stdout) as List<KeyWithSecret>).data.map(({ id }) => id)).toContain(acme.id)
    expect(stdout).not.toContain('\u001b')
  })
})
