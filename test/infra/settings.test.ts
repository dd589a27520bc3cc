import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { SETTING_NAMES, settingRow } from '../../infra/setting-table.ts'
import { parseSettings, readSeed, refuseFlags } from '../../infra/settings.ts'
import { stageOf } from '../../infra/stages.ts'
import { blocksOf, readDocument } from '../documents/support/markdown.ts'
import { emptyFolder } from '../support/processes.ts'

/** Settings that are refused, with what the message must say. */
const WRONG_SETTINGS: readonly (readonly [text: string, said: string])[] = [
  ['{ "prod": ', 'settings.json is not JSON'],
  ['{ "production": {} }', 'production'],
  [
    '{ "prod": { "alarmMail": "you@example.com" } }',
    "prod: there is no field 'alarmMail' here; did you mean 'alarmEmail'?",
  ],
  [
    '{ "prod": { "alarmEmail": "you" } }',
    'prod.alarmEmail: must be an email address, but got a string of 3 characters',
  ],
  ['{ "prod": { "edge": "false" } }', 'prod.edge: must be true or false, but got the string'],
  ['{ "prod": { "chatMemoryMb": 128 } }', 'prod.chatMemoryMb: must be at least 192, but got 128'],
  ['{ "prod": { "monthlyBudgetUsd": 100 } }', 'prod: monthlyBudgetUsd needs an alarmEmail'],
  ['{ "dev": { "edge": false, "usagePage": true } }', 'dev: usagePage needs edge'],
  ['{ "prod": { "chatConcurrency": 0 } }', 'prod.chatConcurrency: '],
  ['{ "prod": { "keepRowsDays": 30 } }', 'prod.keepRowsDays: must be at least 90, but got 30'],
  ['{ "dev": { "keepRowsDays": 400 } }', 'dev: keepRowsDays needs exportUsage'],
  ['{ "prod": { "keepRowsDays": 400, "exportUsage": false } }', 'prod: keepRowsDays needs exportUsage'],
  ['{ "prod": { "logRetentionDays": 91 } }', 'prod.logRetentionDays: must be days that CloudWatch offers'],
  ['{ "prod": { "waf": "on" } }', 'prod.waf: must be "off", "count" or "block", but got'],
  ['{ "prod": { "domain": { "name": "api.example.com" } } }', 'prod.domain: needs a certificateArn, or a hostedZone'],
  [
    '{ "prod": { "domain": { "name": "https://api.example.com/v1", "certificateArn": "x" } } }',
    'prod.domain.name: must be a domain in lower case',
  ],
  [
    '{ "prod": { "domain": { "name": "api.example.com", "certificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b" } } }',
    'prod.domain.certificateArn: must be of a certificate in us-east-1',
  ],
  [
    '{ "prod": { "domain": { "name": "api.example.org", "hostedZone": { "id": "Z0123", "name": "example.com" } } } }',
    'prod.domain: its name is not in the hostedZone',
  ],
  [
    '{ "prod": { "edge": false, "domain": { "name": "example.com", "hostedZone": { "id": "Z0123", "name": "example.com" } } } }',
    'prod: domain, waf and edgeLogs are of CloudFront, which edge: false is without',
  ],
  ['{ "prod": { "edge": false, "waf": "count" } }', 'prod: domain, waf and edgeLogs are of CloudFront'],
  ['{ "prod": { "tableNames": { "keys": "one of mine" } } }', 'prod.tableNames.keys: must be the name of a table'],
  [
    '{ "dev": { "tableNames": { "keys": "keys", "usage": "usage" } } }',
    'dev: tableNames is for a stage whose tables outlive it',
  ],
]

test.each(WRONG_SETTINGS)('the settings %s are refused, and the message says what is wrong: %s', (text, said) => {
  expect(() => parseSettings(text, 'settings.json')).toThrow(said)
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
