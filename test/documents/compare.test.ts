import { expect, test } from '@jest/globals'
import { readDocument, tableOf } from './support/markdown.ts'

const text = readDocument('docs/compare.md')
const HEAD = '| | Waybill | LiteLLM | OpenRouter | Portkey | Bedrock alone | AgentCore Gateway |'
const PEERS = ['L', 'O', 'P', 'B', 'A']
const DATE = /\b20\d\d-\d\d-\d\d\b/

const rows = tableOf('docs/compare.md', HEAD)
const sources = tableOf('docs/compare.md', '| source | in its own words | read |')
const addresses = new Map(Array.from(text.matchAll(/^\[(\w+)\]: (\S+)$/gm), ([, id = '', url = '']) => [id, url]))

const marksIn = (part: string): string[] => Array.from(part.matchAll(/\[([LOPBA]\d+)\]/g), ([, id = '']) => id)

test('every claim about a peer in the table has a source of that peer, or says that none was found', () => {
  const without = rows.flatMap(([name, , ...cells]) =>
    cells.flatMap((cell, index) => {
      const isSourced = marksIn(cell).some((id) => id.startsWith(PEERS[index] ?? ''))
      return isSourced || cell.startsWith('not found') ? [] : [`${name}: ${cell}`]
    }),
  )
  expect(without).toEqual([])
  expect(rows.length).toBeGreaterThanOrEqual(15)
  expect(rows.filter((cells) => cells.length !== PEERS.length + 2)).toEqual([])
})

test('every source is quoted, dated and linked, and every mark leads to one', () => {
  const ids = sources.map(([mark = '']) => mark.slice(1, -1))
  expect(new Set(ids).size).toBe(ids.length)
  expect([...addresses.keys()]).toEqual(ids)
  expect([...addresses.values()].filter((url) => !url.startsWith('https://'))).toEqual([])
  expect(sources.filter(([, words = '', read = '']) => words.length < 4 || !DATE.test(read))).toEqual([])
  const [said = ''] = text.split('## Sources')
  expect([...new Set(marksIn(said))].toSorted()).toEqual(ids.toSorted())
})

test('code and documents of a peer are linked at a commit, where they cannot change', () => {
  const files = [...addresses.values()].filter((url) => /github\.com\/(BerriAI|OpenRouterTeam|Portkey-AI)\//.test(url))
  expect(files.filter((url) => !/\/blob\/[0-9a-f]{40}\/|\/issues\/\d+$/.test(url))).toEqual([])
})

test('the page says when it was written, and where Waybill is behind', () => {
  expect(text).toMatch(/^As of 20\d\d-\d\d-\d\d\./m)
  const [, behind = ''] = text.split('## Where Waybill is behind')
  expect(behind.split('## ')[0]?.match(/^- /gm)?.length).toBeGreaterThanOrEqual(5)
})
