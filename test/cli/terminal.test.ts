import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from '@jest/globals'
import { rangeOf } from '../../cli/commands/time-range.ts'
import { printTable, summed, wide } from '../../layers/terminal/output.ts'
import { startProgress } from '../../layers/terminal/progress.ts'
import { paintFor, type Screen } from '../../layers/terminal/terminal.ts'

type Row = { readonly id: string; readonly name: string; readonly note: string; readonly credits: string }

const ROWS: readonly Row[] = [
  { id: 'key_1', name: 'acme', note: 'a note that is far longer than any terminal of forty columns', credits: '1.5' },
  { id: 'key_2', name: 'globex', note: '', credits: '-0.25' },
]

function tableAt(width: number | undefined, isTerminal = true): string[] {
  const lines: string[] = []
  const print = (text: string) => lines.push(text)
  const screen: Screen = { log: print, error: print, painted: print, isTerminal, width, paint: paintFor({}, {}) }
  printTable<Row>(screen, ROWS, {
    id: wide((row) => row.id),
    name: { of: (row) => row.name, isWhole: true },
    spare: { of: () => 'spare', isSpare: true },
    note: (row) => row.note,
    credits: summed((row) => row.credits),
  })
  return lines
}

test('a table fits a terminal: spare columns go, the longest text is shortened, and numbers stay whole beneath their sum', () => {
  expect(tableAt(40)).toEqual([
    'name    note                     credits',
    'acme    a note that is far lon…      1.5',
    'globex  -                          -0.25',
    'total                               1.25',
  ])
  expect(tableAt(20).every((line) => line.length <= 6 + 2 + 8 + 2 + 7)).toBe(true)
  expect(tableAt(200)[0]).toMatch(/^name {4}spare {2}note/)
})

test('a number is whole also where other rows of its column have a text, which is shortened', () => {
  const lines: string[] = []
  const print = (text: string) => lines.push(text)
  const screen: Screen = {
    log: print,
    error: print,
    painted: print,
    isTerminal: true,
    width: 20,
    paint: paintFor({}, {}),
  }
  const rows = [{ available: '124.99999348' }, { available: 'of a customer with a long name' }]
  printTable(screen, rows, { name: () => 'acme', available: summed((row) => row.available) })
  expect(lines).toEqual(['name   available', 'acme   124.99999348', 'acme   of a custome…', 'total  124.99999348'])
})

test('in a pipe a table has every column whole, and no sum', () => {
  expect(tableAt(undefined, false)).toEqual([
    'id     name    spare  note                                                          credits',
    'key_1  acme    spare  a note that is far longer than any terminal of forty columns      1.5',
    'key_2  globex  spare  -                                                               -0.25',
  ])
})

test('colours are for terminals, and NO_COLOR, FORCE_COLOR and a dumb terminal decide otherwise', () => {
  const isPainted = (isTTY: boolean, env: Record<string, string>) => paintFor({ isTTY }, env).bad('x') !== 'x'
  expect([isPainted(true, {}), isPainted(false, {})]).toEqual([true, false])
  expect([isPainted(true, { NO_COLOR: '1' }), isPainted(true, { NO_COLOR: '' })]).toEqual([false, true])
  expect([isPainted(false, { FORCE_COLOR: '1' }), isPainted(true, { FORCE_COLOR: '0' })]).toEqual([true, false])
  expect(isPainted(true, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true)
  expect(isPainted(true, { TERM: 'dumb' })).toBe(false)
})

const NOW = Date.parse('2026-03-15T13:45:00Z')
const HOUR = 3_600_000

test.each([
  [{ from: 'today' }, '2026-03-15T00:00:00.000Z', undefined],
  [{ from: 'yesterday' }, '2026-03-14T00:00:00.000Z', '2026-03-15T00:00:00.000Z'],
  [{ from: 'yesterday', to: '2h' }, '2026-03-14T00:00:00.000Z', '2026-03-15T11:45:00.000Z'],
  [{ from: '7d' }, '2026-03-08T13:45:00.000Z', undefined],
  [{ from: 'this-month' }, '2026-03-01T00:00:00.000Z', undefined],
  [{ from: 'last-month' }, '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  [{ from: '2026-01-02', to: 'today' }, '2026-01-02T00:00:00.000Z', '2026-03-15T00:00:00.000Z'],
  [{ since: HOUR }, '2026-03-15T12:45:00.000Z', undefined],
  [{}, '2026-03-14T13:45:00.000Z', undefined],
])('the range %j is in UTC', (options, from, to) => {
  const { fromMs, toMs } = rangeOf(options, NOW)
  expect([new Date(fromMs).toISOString(), toMs && new Date(toMs).toISOString()]).toEqual([from, to])
})

test('last-month in January is December, and a range has one beginning', () => {
  const { fromMs } = rangeOf({ from: 'last-month' }, Date.parse('2026-01-31T00:00:00Z'))
  expect(new Date(fromMs).toISOString()).toBe('2025-12-01T00:00:00.000Z')
  expect(() => rangeOf({ from: 'today', since: 1 }, NOW)).toThrow('Choose one of --from and --since.')
})

async function progressOn(isTTY: boolean): Promise<string> {
  let written = ''
  const stream = new Writable({
    write(chunk, _, done) {
      written += chunk
      done()
    },
  })
  const progress = startProgress(Object.assign(stream, { isTTY, columns: 40 }), 'usage summary', 0)
  progress.say('usage summary: 12 rows\u001b[31m')
  await sleep(300)
  progress.stop()
  await sleep(150)
  return written
}

test('progress is on a terminal only, tells how far it is, and leaves nothing behind', async () => {
  expect(await progressOn(false)).toBe('')
  const written = await progressOn(true)
  expect(written).toMatch(/0 s {2}usage summary: 12 rows/)
  expect(stripVTControlCharacters(written)).not.toContain('[31m\u001b')
  expect(written.endsWith('\r\u001b[2K')).toBe(true)
})
