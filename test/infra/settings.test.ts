import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { SETTING_NAMES, settingRow } from '../../infra/setting-table.ts'
import { parseSettings, readSeed, refuseFlags } from '../../infra/settings.ts'
import { stageOf } from '../../infra/stages.ts'
import { blocksOf, readDocument } from '../documents/support/markdown.ts'
import { emptyFolder } from '../support/processes.ts'

const name = 'api.example.com'
const hostedZone = { id: 'Z0123', name: 'example.com' }
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b'
const OF_CLOUDFRONT = ': domain, waf and edgeLogs are of CloudFront, which edge: false is without'

/** Settings that are refused, with the words of the message, which begin with the stage. */
const WRONG_SETTINGS: readonly (readonly [stage: string, settings: object, said: string])[] = [
  ['prod', { alarmMail: 'you@example.com' }, ": there is no field 'alarmMail' here; did you mean 'alarmEmail'?"],
  ['prod', { alarmEmail: 'you' }, '.alarmEmail: must be an email address, but got a string of 3 characters'],
  ['prod', { edge: 'false' }, '.edge: must be true or false, but got the string'],
  ['prod', { chatMemoryMb: 128 }, '.chatMemoryMb: must be at least 192, but got 128'],
  ['prod', { monthlyBudgetUsd: 100 }, ': monthlyBudgetUsd needs an alarmEmail'],
  ['dev', { edge: false, usagePage: true }, ': usagePage needs edge'],
  ['prod', { chatConcurrency: 0 }, '.chatConcurrency: '],
  ['prod', { keepRowsDays: 30 }, '.keepRowsDays: must be at least 90, but got 30'],
  ['dev', { keepRowsDays: 400 }, ': keepRowsDays needs exportUsage'],
  ['prod', { keepRowsDays: 400, exportUsage: false }, ': keepRowsDays needs exportUsage'],
  ['prod', { logRetentionDays: 91 }, '.logRetentionDays: must be days that CloudWatch offers'],
  ['prod', { waf: 'on' }, '.waf: must be "off", "count" or "block", but got'],
  ['prod', { domain: { name } }, '.domain: needs a certificateArn, or a hostedZone'],
  ['prod', { domain: { name: `https://${name}/v1`, hostedZone } }, '.domain.name: must be a domain in lower case'],
  ['prod', { domain: { name, certificateArn } }, '.domain.certificateArn: must be of a certificate in us-east-1'],
  ['prod', { domain: { name: 'api.example.org', hostedZone } }, '.domain: its name is not in the hostedZone'],
  ['prod', { edge: false, domain: { name, hostedZone } }, OF_CLOUDFRONT],
  ['prod', { edge: false, waf: 'count' }, OF_CLOUDFRONT],
  ['prod', { tableNames: { keys: 'one of mine' } }, '.tableNames.keys: must be the name of a table'],
  ['prod', { backup: ['waybill'] }, '.backup.0: must be the ARN of a vault of AWS Backup'],
  ['dev', { tableNames: { keys: 'k', usage: 'u' } }, ': tableNames is for a stage whose tables outlive it'],
]

test.each(WRONG_SETTINGS)('the settings of %s %j are refused, and the message says: %s', (stage, settings, said) => {
  expect(() => parseSettings(JSON.stringify({ [stage]: settings }), 'settings.json')).toThrow(stage + said)
})

test('settings that are not JSON, or of no stage, are refused', () => {
  expect(() => parseSettings('{ "prod": ', 'settings.json')).toThrow('settings.json is not JSON')
  expect(() => parseSettings('{ "production": {} }', 'settings.json')).toThrow('production')
})

test.each(['alarmEmail', 'edge'])(
  'the flag -c %s is refused, because the next deployment would forget it, and the message says where it is set',
  (flag) => {
    const contextOf = (name: string) => (name === flag ? 'x' : undefined)
    expect(() => refuseFlags(contextOf)).toThrow(`set "${flag}" in infra/settings.json`)
  },
)

test('docs/deploy.md has a row for each setting, with what it is in dev and in prod, in the words of the table', () => {
  const shown = (value: unknown) => (value === undefined || value === null ? 'none' : String(value))
  const rows = SETTING_NAMES.map((name) => {
    const [dev, prod] = [stageOf('dev')[name], stageOf('prod')[name]]
    return `| \`${name}\` | ${shown(dev)} | ${shown(prod)} | ${settingRow(name).words} |`
  })
  const [, table = ''] = readDocument('docs/deploy.md').split('| setting | `dev` | `prod` | |\n|---|---|---|---|\n')
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows)
})

test.each(['docs/deploy.md', 'docs/disaster-recovery.md'])('the settings that %s shows are accepted', (path) => {
  const blocks = blocksOf(path, 'json')
  expect(blocks.length).toBeGreaterThan(0)
  for (const text of blocks) parseSettings(text, path)
})

test('a catalog that somebody names is found from where they are, and the seed wherever that is', () => {
  const [folder, before, seed] = [emptyFolder(), process.cwd(), readSeed()]
  cpSync('examples/openai-with-fallback.json', join(folder, 'mine.json'))
  process.chdir(folder)
  try {
    expect(readSeed('mine.json').catalog.models.length).toBeGreaterThan(0)
    expect(readSeed()).toEqual(seed)
    expect(() => readSeed('other.json')).toThrow(`There is no ${join(process.cwd(), 'other.json')}`)
  } finally {
    process.chdir(before)
  }
})
