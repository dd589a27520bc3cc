import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { writeDocuments } from './documents.ts'
import type { Findings, Row, RowGroup } from './row.ts'
import { ROUNDS } from './row.ts'
import { bill } from './rows/bill.ts'
import { chunk } from './rows/chunk.ts'
import { json } from './rows/json.ts'
import { share } from './rows/share.ts'
import { openStand } from './stand.ts'
import { markdownTable } from './words.ts'

// npm run bench: measures Waybill beside a bare proxy, and prints a table.

const GROUPS: readonly RowGroup[] = [json, chunk, share, bill]
const NAMES = GROUPS.map(({ name }) => name).join(', ')

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean' } } })
const chosen = GROUPS.filter(({ name }) => values.only === undefined || name === values.only)
if (chosen.length === 0) fail(`There is no row group '${values.only}': use one of ${NAMES}.`)

const busyBefore = loadavg()[0] ?? 0
const startMs = Date.now()
const seconds = () => Math.round((Date.now() - startMs) / 1000)
await using stand = openStand((line) => console.error(`${String(seconds()).padStart(3)} s  ${line}`))
stand.say(stand.cores.told)
const findings: Findings[] = []
for (const group of chosen) findings.push(await group.measure(stand))

const table = [
  told(),
  markdownTable(['', 'Waybill', 'bare Node proxy'], findings.flatMap(({ rows }) => rows).map(cells)),
].join('\n\n')
const blocks = Object.assign({}, ...findings.map((found) => found.blocks ?? {})) as Record<string, string>
console.log([table, ...Object.values(blocks)].join('\n\n'))
// The table is written only by a whole run, whose rows were measured side by side.
if (values.write) writeDocuments(values.only === undefined ? { table, ...blocks } : blocks)
stand.say('done')

function cells({ what, waybill, bareProxy = '' }: Row): string[] {
  return [what, waybill, bareProxy]
}

function told(): string {
  const day = new Date().toISOString().slice(0, 10)
  const machine = `${cpus().length} cores (${process.arch}), Node ${process.versions.node}`
  // Other work on the machine makes figures larger and wider.
  const others = `load average ${busyBefore.toFixed(1)} before the run`
  return `${day}: ${machine}, ${others}; ${stand.cores.told}. Medians of ${ROUNDS} rounds or more, with the least and the most.`
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
