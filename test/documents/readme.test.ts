import { expect, test } from '@jest/globals'
import { blocksOf, readDocument, tableOf } from './support/markdown.ts'

const readme = readDocument('README.md')

/** Parts of the README, in the order in which a newcomer asks for them. */
const PARTS = [
  'the money is right',
  '(docs/pictures/race.gif)',
  'npx waybill\n',
  'npm ci && npm start',
  '/usage',
  'curl -i ',
  '```js',
  '```python',
  '(docs/pictures/console.png)',
  '## What it guarantees',
  '| LiteLLM | OpenRouter | Portkey |',
  '(docs/compare.md)',
  '## What a credit is',
  'npm run deploy',
  '<!-- bench:bill-total -->',
  'npm ci && npm test',
  '## Documents',
]

test('the README has at most 130 lines', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(130)
})

test('the README has its parts in the order in which a newcomer asks for them', () => {
  const places = PARTS.map((part) => readme.indexOf(part))
  expect(PARTS.filter((_, index) => places[index] === -1)).toEqual([])
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

test('each of the two commands stands alone in its block, so that it can be pasted on a fresh machine', () => {
  const blocks = blocksOf('README.md', 'sh')
  expect(blocks).toEqual(expect.arrayContaining(['npm ci && npm start\n', 'npm ci && npm test\n']))
})

test('the SDKs of the README ask the same model at the same address', () => {
  for (const language of ['js', 'python']) {
    const [block = ''] = blocksOf('README.md', language)
    expect(block).toContain('http://127.0.0.1:8787/v1')
    expect(block).toMatch(/model(: |=)['"]echo['"]/)
    expect(block).toContain('WAYBILL_KEY')
  }
})

test('the README names the peers that docs/compare.md compares, in its order', () => {
  const peers = ['LiteLLM', 'OpenRouter', 'Portkey']
  expect(tableOf('README.md', `| | Waybill | ${peers.join(' | ')} | Amazon Bedrock alone |`).length).toBeGreaterThan(5)
  expect(readDocument('docs/compare.md')).toContain(`| | Waybill | ${peers.join(' | ')} | Bedrock alone |`)
})
