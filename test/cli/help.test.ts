import { expect, test } from '@jest/globals'
import { type Command, Help } from 'commander'
import { keySettings } from '../../cli/commands/arguments.ts'
import { programFor } from '../../cli/main.ts'
import { thisTerminal } from '../../layers/terminal/terminal.ts'
import { waybill } from '../support/command-line.ts'
import { emptyFolder } from '../support/processes.ts'

const program = programFor({ terminal: thisTerminal(), fail: () => {}, openAdmin: undefined })

function everyCommand(command: Command, path = ''): [path: string, command: Command][] {
  return command.commands.flatMap((one) => {
    const its = `${path} ${one.name()}`.trim()
    return [[its, one] as [string, Command], ...everyCommand(one, its)]
  })
}

/** Options that choose among what there is, or that have no value of their own if they are missing. */
const WITHOUT: Readonly<Record<string, string>> = {
  '--key --account --external-id --reference --model --user --tag --status --catalog':
    'without it all are shown, or it is empty',
  '--after --from --at': 'where a list or a range begins, which another option decides',
  '--note': 'there is none',
  '--prices --markup': 'prices stay as they are',
  '--origin --report --env': 'that part is left out',
  '--stage --stack': 'the gateway that waybill use has kept',
}
const NONE = new Set(Object.keys(WITHOUT).flatMap((flags) => flags.split(' ')))

const OF_KEYS = new Set(keySettings(false).map(({ option }) => option.long))

test('help tells the default of every option that has one', () => {
  const missing = everyCommand(program).flatMap(([path, command]) =>
    command.options
      .filter(({ required, optional, mandatory }) => (required || optional) && !mandatory)
      .filter((option) => !new Help().optionDescription(option).includes('default: '))
      // A change leaves what is not named as it is, and a plan leaves it to the key.
      .filter(
        ({ long }) =>
          !NONE.has(long ?? '') && !/ update$/.test(path) && !(path === 'plans create' && OF_KEYS.has(long ?? '')),
      )
      .map(({ long }) => `${path} ${long}`),
  )
  expect(missing).toEqual([])
})

test('the defaults of a new key are told as it gets them', async () => {
  const { stdout } = await waybill(emptyFolder(), ['keys', 'create', '--help'])
  for (const [option, value] of [
    ['--rpm <n>', '60'],
    ['--scopes <list>', 'chat.completions, models.read'],
    ['--models <list>', 'every model'],
    ['--expires <when>', 'never'],
    ['--credits <credits>', '0'],
  ] as const) {
    const [, told = ''] = stdout.split(option)
    expect(told.replace(/\s+/g, ' ').split(' --')[0]).toContain(`(default: ${value})`)
  }
})

test.each([['export', 'focus'], ['reconcile']])('waybill %s %s tells that it takes whole days', async (...args) => {
  const { stdout } = await waybill(emptyFolder(), [...args, '--help'])
  const told = stdout.replace(/\s+/g, ' ')
  expect(told).toContain('a period before today such as 7d, or a day such as 2026-11-01')
  expect(told).toContain('(default: the end of the word in --from, or today)')
})

test('the help of a command has the options that every command has', async () => {
  const { stdout } = await waybill(emptyFolder(), ['deploy', '--help'])
  const told = stdout.replace(/\s+/g, ' ')
  expect(told).toContain('--stage <name> work on a gateway in AWS')
  expect(told).toContain(
    '--yes do without asking what a protected stage, a price below cost, or any warning asks about',
  )
})

test.each([
  [['usage', 'list']],
  [['usage', 'summary']],
  [['usage', 'export', '--from', 'today']],
  [['invoice', '--month', 'last-month']],
  [['statement', '--month', 'last-month']],
  [['audit']],
])('waybill %j is about a key or an account', async (args) => {
  const { code, stderr } = await waybill(emptyFolder(), [...args, '--key', 'a', '--account', 'b', '--local'])
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("option '--account <account>' cannot be used with option '--key <key>'"),
  ])
})

test.each([
  [['keys', 'create', '--nam', 'q'], "error: unknown option '--nam'", 'Did you mean --name?'],
  [['invoice', '--mont', '2026-10'], "error: unknown option '--mont'", 'Did you mean --month?'],
  [
    ['admin-keys', 'create', '--scopes', 'keys.read', '--daily-grand', '1'],
    "error: unknown option '--daily-grand'",
    '--daily-grant?',
  ],
  [['keys', 'create'], "error: required option '--name <name>' not specified", ''],
])('waybill %j names the option that there is not before one that is missing', async (args, told, meant) => {
  const { code, stderr } = await waybill(emptyFolder(), [...args, '--local'])
  expect([code, stderr]).toEqual([1, expect.stringContaining(told)])
  expect(stderr).toContain(meant)
})

test('help is there for a command whose options are missing', async () => {
  expect(await waybill(emptyFolder(), ['invoice', '--help'])).toMatchObject({ code: 0, stderr: '' })
})

test.each([
  [['usage', 'list', '--from', '2026-13-1'], "argument '2026-13-1' is invalid. It must be one of today"],
  [
    ['catalog', 'show', '--at', 'noon'],
    "It must be a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z, but is 'noon'.",
  ],
  [
    ['keys', 'create', '--name', 'a', '--expires', 'soon'],
    "but is 'soon'. Here also a period such as 30d, or 'never'.",
  ],
  [
    ['statement', '--key', 'a', '--month', 'may'],
    "argument 'may' is invalid. It must be last-month, this-month or a month such as 2026-10, in UTC.",
  ],
])('waybill %j says what was expected, and got', async (args, told) => {
  const { code, stderr } = await waybill(emptyFolder(), [...args, '--local'])
  expect([code, stderr]).toEqual([1, expect.stringContaining(told)])
})
