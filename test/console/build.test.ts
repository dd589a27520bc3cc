import { expect, test } from '@jest/globals'
import { buildConsole } from '../../console/build.ts'
import { compareCredits } from '../../console/parts/compare-credits.ts'
import { changesOf, DEFAULTS, rebase, settingsOf } from '../../console/parts/typed-settings.ts'
import { newSecret } from '../../console/secret.ts'
import { createKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import { settingsIn } from '../../layers/admin/settings/key-settings.ts'
import { BRAND } from '../../layers/gateway/contract.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { hashSecret } from '../../layers/gateway/domain/secret.ts'
import { isSecret } from '../../layers/gateway/domain/secret-text.ts'

test('the whole console is below 46 KiB gzipped: one page, one script, one style sheet', async () => {
  const { files, gzippedBytes } = await buildConsole()
  expect(files.map(({ path }) => path)).toEqual(['/', '/console.js', '/console.css'])
  expect(gzippedBytes).toBeLessThan(46 * 1024)
})

test('the console has nothing that its Content-Security-Policy forbids: no inline style or script, no HTML from texts', async () => {
  const { files } = await buildConsole()
  const texts = files.map(({ body }) => Buffer.from(body).toString())
  expect(texts[0]).not.toMatch(/<style|style=|<script>|onload=/)
  expect(texts[1]).not.toMatch(/\beval\(|new Function\(|insertAdjacentHTML|document\.write/)
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
  expect(changesOf(DEFAULTS, typed)).toEqual({ rpm: 90, note: 'mine' })
  const together = rebase(typed, DEFAULTS, theirs)
  expect(together).toEqual({ ...DEFAULTS, rpm: '90', note: 'mine', name: 'renamed' })
  expect(changesOf(theirs, together)).toEqual({ rpm: 90, note: 'mine' })
})
