import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { buildConsole } from '../../console/build.ts'
import { customerText } from '../../console/pages/request/row-facts.ts'
import { compareCredits } from '../../console/parts/numbers.ts'
import { rangeOf } from '../../console/parts/ranges.ts'
import { changesOf, DEFAULTS, settingsOf } from '../../console/parts/typed-settings.ts'
import { newSecret } from '../../console/secret.ts'
import { createKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import { explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { settingsIn } from '../../layers/admin/settings/key-settings.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import { isSecret } from '../../layers/gateway/domain/keys/secret-text.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { completedRow } from '../support/completed-row.ts'
import { REQUEST_ID, sampleRequest } from './support/samples.ts'

test('a browser loads below 45 KiB gzipped for any page, everything that it needs counted', async () => {
  const files = new Map((await buildConsole()).map(({ path, body }) => [path, Buffer.from(body)]))
  expect([...files.keys()]).toEqual(expect.arrayContaining(['/', '/console.js', '/console.css']))
  const importsOf = (path: string, pattern: RegExp) =>
    [...`${files.get(path)}`.matchAll(pattern)].map(([, name]) => `/${name}`)
  const needs = (path: string): string[] => [path, ...importsOf(path, /(?:from|import)"\.\/([^"]+)"/g).flatMap(needs)]
  const groups = importsOf('/console.js', /import\("\.\/([^"]+)"\)/g)
  expect(groups).toHaveLength(5)
  for (const group of groups) {
    const loaded = new Set(['/', '/console.css', ...needs('/console.js'), ...needs(group)])
    const bytes = [...loaded].reduce((sum, path) => sum + gzipSync(files.get(path) ?? '').length, 0)
    expect(bytes).toBeGreaterThan(20 * 1024)
    expect(bytes).toBeLessThan(45 * 1024)
  }
})

test('the console has nothing that its Content-Security-Policy forbids: no inline style or script, no HTML from texts', async () => {
  const [page, ...files] = await buildConsole()
  expect(String(page && Buffer.from(page.body))).not.toMatch(/<style|style=|<script>|onload=/)
  for (const { body } of files)
    expect(Buffer.from(body).toString()).not.toMatch(/\beval\(|new Function\(|insertAdjacentHTML|document\.write/)
})

test('a secret made in the page is one that the gateway accepts, and its hash is the hash that the gateway looks for', async () => {
  const { secret, told } = await newSecret(BRAND.keyPrefix)
  expect(isSecret(BRAND.keyPrefix, secret)).toBe(true)
  expect(told).toEqual({ secret_sha256: hashSecret(secret), last_four: secret.slice(-4) })
  expect((await newSecret(BRAND.keyPrefix)).secret).not.toBe(secret)
})

test('the page begins with the defaults of the command line', () => {
  const settings = settingsIn(createKeyBody.parse({ ...settingsOf(DEFAULTS), name: 'typed' }), Date.now())
  const chosen = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))
  expect(chosen).toEqual({ ...KEY_DEFAULTS, name: 'typed' })
})

test('amounts are put in order by their digits, far beyond what a float can tell apart', () => {
  const amounts = ['9007199254740993.000000001', '10', '-1', '9007199254740993', '0.000000001', '9.5', '0']
  expect(amounts.toSorted(compareCredits)).toEqual([
    '-1',
    '0',
    '0.000000001',
    '9.5',
    '10',
    '9007199254740993',
    '9007199254740993.000000001',
  ])
})

test('a change sends only what somebody typed, and keeps it when another operator has changed the key meanwhile', () => {
  const typed = { ...DEFAULTS, rpm: '90', note: 'mine' }
  const theirs = { ...DEFAULTS, rpm: '120', name: 'renamed' }
  const changes = changesOf(DEFAULTS, typed)
  expect(changes).toEqual({ rpm: '90', note: 'mine' })
  expect(changesOf(theirs, { ...theirs, ...changes })).toEqual(changes)
})

test('the words for a customer are those of the explanation, without a line about the cost to us', () => {
  const row = {
    ...completedRow({ requestId: REQUEST_ID, keyId: 'key_1', startedAtMs: 0, cost: 12n, hold: 20n }),
    upstreamCost: 7n,
    loss: 3n,
    stopReason: 'odd_end',
    attempts: [{ provider: 'a', model: 'b', result: 'connect', ms: 1, said: 'could not be reached (ECONNREFUSED)' }],
  }
  const explanation = explainRequest(row, undefined, Date.now())
  expect(JSON.stringify(explanation)).toContain('0.000000007')
  expect(JSON.stringify(explanation)).toContain('ECONNREFUSED')
  const words = customerText({ ...sampleRequest, explanation })
  expect(words).toContain('0.000000012')
  expect(words).not.toMatch(/0\.000000007|0\.000000005|cost us|margin|loss|odd_end|ECONNREFUSED/i)
})

test.each([
  ['range=yesterday', '2026-02-28', '2026-03-01', true],
  ['range=last-month', '2026-02-01', '2026-03-01', false],
  ['range=month', '2026-03-01', undefined, true],
  ['range=7d', '2026-02-23', undefined, false],
  ['range=30d', '2026-01-31', undefined, false],
  ['range=24h', '2026-02-28T10:00:00.000Z', undefined, true],
  ['from=2026-02-01T10:00:00Z&to=2026-02-09', '2026-02-01T10:00:00Z', '2026-02-09', false],
  ['range=constructor', '2026-02-23', '2026-03-02', false],
])('the address ?%s is a range from %s to %s', (query, from, to, isByHour) => {
  const range = rangeOf({ query: new URLSearchParams(query) }, Date.parse('2026-03-01T10:00:00Z'))
  expect([range.from, range.to, range.isByHour]).toEqual([from, to, isByHour])
})
