import { medianOf } from '../../../bench/statistics.ts'
import { number } from '../../../bench/words.ts'
import { openOperatorTables } from '../../../layers/gateway/store/operator-tables.ts'
import { startDynamoDb } from '../../../local/dynamodb-local.ts'
import { startConsole } from '../../../operator/console/start-console.ts'
import { LOCAL_TABLES } from '../../../operator/local-gateway.ts'
import { BROWSER_PATH, openBrowser } from '../support/browser.ts'
import { writeHistory } from './history.ts'

// How long an operator waits for a page of the console, from the click to its numbers, over a gateway with a past.

const SIZE = { keys: 500, days: 30, rows: 1_000_000 }
const RUNS = 3
const PAGES = [
  ['keys', 'customer 500'],
  ['keys?sort=name', 'customer 99'],
  ['usage', 'By model, all days'],
  ['usage?group_by=key', 'customer 499'],
  ['requests', 'small'],
  ['overview', 'Keys about to run dry'],
] as const

await using stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stack.disposeAsync().finally(() => process.exit(1)))
}
const { endpoint } = await startDynamoDb(null, stack)
const tables = openOperatorTables(LOCAL_TABLES, { endpoint })
const { rowsToday } = await writeHistory(tables, SIZE, Date.now())
console.error(`${number(SIZE.keys)} keys, ${SIZE.days} days, ${number(rowsToday)} rows today.`)

const connection = {
  tables,
  stage: 'bench',
  isProtected: false,
  ipv6: false,
  tracing: false,
  chatUrl: 'http://127.0.0.1:1',
  apiUrl: 'http://127.0.0.1:1',
  whoAmI: async () => 'bench',
}
const address = await startConsole(connection, { port: 0, isReadOnly: true, report: console.error }, stack)
const browser = await openBrowser(BROWSER_PATH ?? '')
stack.defer(() => browser.close())
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
page.setDefaultTimeout(120_000)
await page.goto(address)
// Everybody begins with the overview. What it reads would be in the way of the next page.
await page.getByText('Keys about to run dry').first().waitFor()

const origin = new URL(address).origin
console.log('| page | it is there | its numbers, the first time | again |\n|---|---|---|---|')
for (const [path, text] of PAGES) {
  const [there, taken]: [number[], number[]] = [[], []]
  for (let run = 0; run <= RUNS; run++) {
    await page.goto(`${origin}/#/changes`)
    await page.getByText('rpm: ').first().waitFor()
    const startMs = performance.now()
    await page.goto(`${origin}/#/${path}`)
    await page.getByRole('heading', { level: 1, name: path.split('?')[0] ?? '' }).waitFor()
    there.push(performance.now() - startMs)
    await page
      .getByText(text, { exact: text.startsWith('customer') })
      .first()
      .waitFor()
    taken.push(performance.now() - startMs)
  }
  const [first = 0, ...again] = taken
  console.log(`| ${path} | ${[medianOf(there), first, medianOf(again)].map(inSeconds).join(' | ')} |`)
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
