import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { writeDocuments } from './documents.ts'
import { markdownTable, type Row } from './figures.ts'
import { bill } from './rows/bill.ts'
import { chunk, json, ROUNDS } from './rows/cpu.ts'
import { load } from './rows/load.ts'
import { openStand, type Stand } from './stand.ts'

// npm run bench: measures Waybill beside a bare proxy, and prints a table.

/** The rows, and the parts of documents that their figures are written into, by their marks. */
type Findings = { readonly rows: readonly Row[]; readonly blocks?: Readonly<Record<string, string>> }

const GROUPS: Readonly<Record<string, (stand: Stand) => Promise<Findings>>> = { load, json, chunk, bill }

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean' } } })
const chosen = Object.entries(GROUPS).filter(([name]) => values.only === undefined || name === values.only)
if (chosen.length === 0) {
  console.error(`There is no row group '${values.only}': use one of ${Object.keys(GROUPS).join(', ')}.`)
  process.exit(1)
}

const busyBefore = loadavg()[0] ?? 0
const startMs = Date.now()
const seconds = () => Math.round((Date.now() - startMs) / 1000)
await using stand = openStand((line) => console.error(`${String(seconds()).padStart(3)} s  ${line}`))
stand.say(stand.cores)
const findings: Findings[] = []
for (const [, measure] of chosen) findings.push(await measure(stand))

const day = new Date().toISOString().slice(0, 10)
const machine = `${cpus().length} cores (${process.arch}), Node ${process.versions.node}`
// Other work on the machine makes figures larger and wider.
const others = `load average ${busyBefore.toFixed(1)} before the run`
const told = `${day}: ${machine}, ${others}; ${stand.cores}. Medians of ${ROUNDS} rounds or more, with the least and the most.`
const rows = findings.flatMap((found) => found.rows.map((row) => [row.what, row.waybill, row.bareProxy ?? '']))
const table = `${told}\n\n${markdownTable(['', 'Waybill', 'bare Node proxy'], rows)}`
const blocks: Record<string, string> = Object.assign({}, ...findings.map((found) => found.blocks ?? {}))
console.log([table, ...Object.values(blocks)].join('\n\n'))
// The table is written only by a whole run, whose rows were measured side by side.
if (values.write) writeDocuments(values.only === undefined ? { table, ...blocks } : blocks)
stand.say('done')
