import { medianOf, number } from '../../../bench/figures.ts'
import { startConsole } from '../../../cli/console/start-console.ts'
import { SETTING_WORDS } from '../../../layers/admin/settings/setting-words.ts'
import { openTables } from '../../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { LOCAL_TABLES } from '../../../local/database-thread.ts'
import { startDynamoDbLocal } from '../../support/dynamodb-local.ts'
import { connectionTo, startSignedAdmin } from '../../support/signed-admin.ts'
import { until } from '../../support/wait.ts'
import { openBrowser } from '../support/browser.ts'
import { writeHistory } from './history.ts'

// How long an operator waits for a page of the console, from the click to its numbers, over a gateway with a past.

const SIZE = { keys: 500, days: 30, rows: 1_000_000 }
const RUNS = 3
const PAGES = [
  ['keys', 'customer 500'],
  ['keys?sort=name', 'customer 1'],
  ['usage', 'Tokens out'],
  ['usage?group_by=key', 'Tokens out'],
  ['requests', '0.90 s'],
  ['overview', 'About to run dry'],
] as const

await using stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stack.disposeAsync().finally(() => process.exit(1)))
}
const { endpoint } = await startDynamoDbLocal(stack)
const tables = openTables(LOCAL_TABLES, { endpoint })
const { rowsToday } = await writeHistory(tables, SIZE, Date.now())
console.error(`${number(SIZE.keys)} keys, ${SIZE.days} days, ${number(rowsToday)} rows today.`)

const admin = stack.use(await startSignedAdmin(tables, 'http://127.0.0.1:1'))
const address = await startConsole(connectionTo(admin, 'http://127.0.0.1:1'), { port: 0, isReadOnly: true }, stack)
const browser = await openBrowser()
stack.defer(() => browser.close())
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
page.setDefaultTimeout(120_000)
await page.goto(address)
// Every visit begins with the overview. Its reads would be in the way of the next page.
await page.getByText('About to run dry').first().waitFor()

const origin = new URL(address).origin
const visits = new Map<string, Visit[]>()
// The first time, and again at once.
for (const [path, text] of PAGES) visits.set(path, await repeated(1 + RUNS, () => visit(path, text)))

console.log('| page | it is there | its numbers, the first time | again |\n|---|---|---|---|')
for (const [path, all] of visits) {
  const [first, ...more] = all.map(({ taken }) => taken)
  const times = [medianOf(all.map(({ there }) => there)), first ?? 0, medianOf(more)]
  console.log(`| ${path} | ${times.map(inSeconds).join(' | ')} |`)
}

type Visit = { readonly there: number; readonly taken: number }

/** From the click until the page is there, and until its numbers are. */
async function visit(path: string, text: string): Promise<Visit> {
  await page.goto(`${origin}/#/changes`)
  await page.getByText(`${SETTING_WORDS.rpm.label}: `).first().waitFor()
  const startMs = performance.now()
  await page.goto(`${origin}/#/${path}`)
  await page.getByRole('heading', { level: 1, name: path.split('?')[0] ?? '' }).waitFor()
  const there = performance.now() - startMs
  // A locator looks again only after half a second.
  const cells = "(document.querySelector('main')?.innerText ?? '').split(/[\\n\\t]/).map((cell) => cell.trim())"
  const isThere = text.startsWith('customer') ? 'cell === text' : 'cell.includes(text)'
  const asked = `((text) => ${cells}.some((cell) => ${isThere}))(${JSON.stringify(text)})`
  await until(() => page.evaluate<boolean>(asked), 120_000)
  return { there, taken: performance.now() - startMs }
}

async function repeated<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let i = 0; i < times; i++) results.push(await work())
  return results
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
