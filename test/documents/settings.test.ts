import { expect, test } from '@jest/globals'
import { programFor } from '../../cli/main.ts'
import { ACCOUNT_FIELDS } from '../../layers/admin/settings/account-fields.ts'
import { ACCOUNT_WORDS } from '../../layers/admin/settings/account-words.ts'
import { SETTING_FIELDS, SETTING_OPTIONS } from '../../layers/admin/settings/setting-fields.ts'
import { shownText } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { KEY_SETTINGS, type Setting } from '../../layers/gateway/domain/keys/key-settings.ts'
import { NOTICE_KINDS } from '../../layers/gateway/domain/keys/notice.ts'
import { thisTerminal } from '../../layers/terminal/terminal.ts'
import { tableOf } from './support/markdown.ts'

const program = programFor({ terminal: thisTerminal(), fail: () => {}, openAdmin: undefined })
const optionsOf = (name: string, of = 'keys') => {
  const owner = program.commands.find((command) => command.name() === of)
  return owner?.commands.find((command) => command.name() === name)?.options ?? []
}

const rows = tableOf('docs/operate.md', '| setting | default | bounds |')
const rowOf = (option: string) => rows.find(([its]) => its === option) ?? []

test('docs/operate.md has a row for each option of `keys create`, with the bounds of a number', () => {
  const options = optionsOf('create')
  expect(rows.map(([option]) => option).toSorted()).toEqual(options.map(({ long }) => long).toSorted())
  for (const { long, parseArg } of options) {
    const [, least, most] = /number from (\d+) to (\d+)/.exec(complaintOf(parseArg)) ?? []
    if (least) expect(rowOf(long ?? '')[2]?.replaceAll(',', '')).toContain(`${least} to ${most}`)
  }
})

test('docs/operate.md has a row for each option of `accounts create`, and the form takes texts as long as the rule', () => {
  const told = tableOf('docs/operate.md', '| setting of an account | default | bounds |').map(([option]) => option)
  expect(told.toSorted()).toEqual(
    optionsOf('create', 'accounts')
      .map(({ long }) => long)
      .toSorted(),
  )
  for (const field of ['name', 'external_id', 'contact_name', 'note', 'contact_email'] as const) {
    const text = (length: number) => `${field === 'contact_email' ? `${'x'.repeat(64)}@` : ''}`.padEnd(length, 'x')
    const takes = (length: number) => ACCOUNT_FIELDS[field].safeParse(text(length)).success
    const { mostChars = 0 } = ACCOUNT_WORDS[field]
    expect([field, takes(mostChars), takes(mostChars + 1)]).toEqual([field, true, false])
  }
})

test.each(ASKED_SETTINGS)('docs/operate.md has the default of the setting %s', (setting) => {
  expect(rowOf(`--${SETTING_OPTIONS[setting].option}`)[1]?.replaceAll(/(?<=\d),/g, '')).toBe(defaultText(setting))
})

test('docs/operate.md has a row for each notice', () => {
  const told = tableOf('docs/operate.md', '| type | when | its own data |').flatMap(([types = '']) => types.split(', '))
  expect(told.toSorted()).toEqual([...NOTICE_KINDS].toSorted())
})

test('each setting of a key has an API field, an option and a label of its own, in `keys create` and in `keys update`', () => {
  const words = Object.values(SETTING_WORDS)
  expect(words.map(({ field }) => field).toSorted()).toEqual(Object.keys(SETTING_FIELDS).toSorted())
  expect(new Set(words.map(({ label }) => label)).size).toBe(words.length)
  const options = Object.values(SETTING_OPTIONS).map(({ option }) => `--${option}`)
  expect(new Set(options).size).toBe(options.length)
  expect(optionsOf('update').map(({ long }) => long)).toEqual(expect.arrayContaining(options))
  expect(optionsOf('create').map(({ long }) => long)).toEqual(expect.arrayContaining(options))
})

test.each(ASKED_SETTINGS)(
  'the form lets people type as long a text as the rule of %s takes, and none longer',
  (setting) => {
    const { field, kind, mostChars = 0 } = SETTING_WORDS[setting]
    const takes = (length: number) => SETTING_FIELDS[field].safeParse('x'.repeat(length)).success
    expect([mostChars > 0, takes(mostChars), takes(mostChars + 1)]).toEqual(
      ['text', 'plan'].includes(kind) ? [true, true, false] : [false, false, false],
    )
  },
)

function defaultText(setting: Setting): string {
  const { default: value } = KEY_SETTINGS[setting]
  return value === 'chosen' ? 'required' : shownText(SETTING_WORDS[setting], value)
}

function complaintOf(parse: ((text: string, before: never) => unknown) | undefined): string {
  try {
    return String(parse?.('many', undefined as never))
  } catch (error) {
    return (error as Error).message
  }
}
