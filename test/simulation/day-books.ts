import { gunzipSync } from 'node:zlib'
import { fail, nano, type StoredItem } from './ledger.ts'
import { momentOf } from './stored-hold.ts'

type Sum = { readonly requests: number; readonly cost: bigint }
type Row = {
  readonly keyId: string
  readonly day: string
  readonly startedAt: string
  readonly cost: bigint
  readonly asked: number
}
type Cursor = { readonly day: string; readonly keyId: string; readonly beforeMs: number; readonly rows: number }
type Line = { readonly request_id: string; readonly cost_nano: number }

type Through = Readonly<Record<'closed' | 'exported' | 'summed', string>>

const HOUR_CHARS = 'yyyy-mm-ddThh'.length

/** Knows by itself the days that are closed: their totals, and the files that their rows are exported to. */
export class DayBooks {
  readonly #rows = new Map<string, Row>()
  readonly #totals = new Map<string, string>()
  readonly #parts = new Map<string, string>()
  readonly #hours = new Map<string, readonly StoredItem[]>()
  /** How far the closing has come. */
  #through: Through = { closed: '', exported: '', summed: '' }
  /** Runs that ended within a key, and kept its sum. */
  keptSums = 0
  cursorsInKeys = 0
  /** Rows that came after their hour was added up. */
  lateRows = 0

  get closedTotals(): number {
    return this.#totals.size
  }

  /** Rows in exported files. */
  get exportedRows(): number {
    return [...this.#parts.values()].reduce((sum, text) => sum + linesOf(text).length, 0)
  }

  rowWritten({ part, requestId, keyId, startedAt, cost, attempts }: StoredItem): void {
    const id = requestId as string
    if (this.#rows.has(id)) return
    const begun = startedAt as string
    if (begun !== new Date(momentOf(id)).toISOString()) fail(`${id} began at ${begun}, which is not its own time`)
    if (!(part as string).startsWith(`ROWS#${dayOf(begun)}#`)) fail(`${id} of ${begun} is in the partition ${part}`)
    const row = {
      keyId: keyId as string,
      day: dayOf(begun),
      startedAt: begun,
      cost: nano(cost),
      asked: (attempts as unknown[]).length,
    }
    // A clock may be far behind. The hours of the day are added up again then, at the latest when it is closed.
    if (begun.slice(0, HOUR_CHARS) <= this.#through.summed) this.lateRows += 1
    if (row.day <= this.#through.closed || this.#totals.has(nameOf(row)))
      fail(`${id} was added to the closed ${row.day}`)
    this.#rows.set(id, row)
  }

  /** `hasOpenHold` is of the key and the day. */
  totalWritten(item: StoredItem, hasOpenHold: (keyId: string, day: string) => boolean): void {
    const [keyId, day] = [item.keyId as string, item.day as string]
    const name = nameOf({ keyId, day })
    const text = inWords(item)
    const before = this.#totals.get(name)
    if (before !== undefined && before !== text) fail(`the total of ${name} was changed: ${before} → ${text}`)
    if (hasOpenHold(keyId, day)) fail(`${name} was added up, and a request of it is still open`)
    this.#checkSum(name, item, () => true)
    this.#totals.set(name, text)
  }

  /** A part of a total: the rows that began before a time. */
  sumWritten(item: StoredItem): void {
    const before = item.before as string
    this.#checkSum(
      nameOf({ keyId: item.keyId as string, day: item.day as string }),
      item,
      (row) => row.startedAt < before,
    )
    this.keptSums += 1
  }

  /** The requests of all keys in an hour or a day, by model, by key, or by the routes that were asked. */
  hoursWritten({ requestId, groups }: StoredItem): void {
    this.#hours.set(requestId as string, JSON.parse(groups as string) as StoredItem[])
  }

  /** The progress of the closing, which never goes back. */
  noted({ closedThrough = '', exportedThrough = '', summedThrough = '', exporting }: StoredItem): void {
    if (exporting) this.#checkCursor(exporting as Cursor)
    const through = { closed: closedThrough, exported: exportedThrough, summed: summedThrough } as Through
    for (const done of ['closed', 'exported', 'summed'] as const) {
      if (through[done] < this.#through[done]) fail(`${this.#through[done]} was ${done}, and is not any more`)
    }
    this.#through = through
    for (const row of this.#rows.values()) {
      if (row.day <= this.#through.closed && !this.#totals.has(nameOf(row)))
        fail(`${nameOf(row)} is closed without a total`)
    }
  }

  /** A file that is written again has the same lines. */
  partWritten(path: string, bytes: Uint8Array): void {
    const text = gunzipSync(bytes).toString()
    const before = this.#parts.get(path)
    if (before !== undefined && before !== text) fail(`${path} was written again with other lines`)
    this.#parts.set(path, text)
  }

  /** When every day that has rows has ended long ago: each row is in one file, once, with its cost. */
  atRest(): void {
    const days = new Set([...this.#rows.values()].map(({ day }) => day))
    for (const day of days) {
      if (day > this.#through.closed) fail(`${day} was never closed`)
      if (day > this.#through.exported) fail(`${day} was never exported`)
      if (`${day}T23` > this.#through.summed) fail(`${day} was never added up by the hour`)
      this.#checkHours(day)
      const exported = this.#linesOf(day)
        .map(({ request_id: id, cost_nano: cost }) => `${id} ${cost}`)
        .sort()
      const rows = [...this.#rows].filter(([, row]) => row.day === day).map(([id, { cost }]) => `${id} ${cost}`)
      if (exported.join() !== rows.sort().join()) fail(`${day} has the rows ${rows}, and the lines ${exported}`)
    }
  }

  /** Every hour that has rows, and the day, in each way of adding up. */
  #checkHours(day: string): void {
    const ofDay = [...this.#rows.values()].filter((row) => row.day === day)
    const spans = new Set([day, ...ofDay.map(({ startedAt }) => startedAt.slice(0, HOUR_CHARS))])
    for (const span of spans) {
      const rows = ofDay.filter(({ startedAt }) => startedAt.startsWith(span))
      const sum = inTwo({ requests: rows.length, cost: rows.reduce((all, { cost }) => all + cost, 0n) })
      const asked = rows.reduce((all, row) => all + row.asked, 0)
      for (const [kind, wanted] of Object.entries({ models: sum, keys: sum, routes: asked })) {
        const groups = [...this.#hours].filter(([id]) => id.startsWith(`${kind}#${span}#`)).flatMap(([, some]) => some)
        const got = kind === 'routes' ? askedIn(groups) : inTwo(sumOf(groups))
        if (got !== wanted) fail(`${kind} of ${span} have ${got}, and its rows ${wanted}`)
      }
    }
  }

  #checkSum(name: string, item: StoredItem, isCounted: (row: Row) => boolean): void {
    const counted = [...this.#rows.values()].filter((row) => nameOf(row) === name && isCounted(row))
    const rows = { requests: counted.length, cost: counted.reduce((sum, { cost }) => sum + cost, 0n) }
    const total = sumOf(item.parts as StoredItem[])
    if (total.requests !== rows.requests || total.cost !== rows.cost) {
      fail(`${name} has a total of ${total.cost} for ${total.requests}, and rows of ${rows.cost} for ${rows.requests}`)
    }
  }

  /** The next run begins there, so that everything before it must be in a file. */
  #checkCursor({ day, keyId, beforeMs, rows }: Cursor): void {
    const before = new Date(beforeMs).toISOString()
    const passed = [...this.#rows].filter(([, row]) => row.day === day && row.keyId === keyId && row.startedAt < before)
    const lines = this.#linesOf(day).map(({ request_id: id }) => id)
    const missing = passed.filter(([id]) => !lines.includes(id))
    if (missing.length > 0 || rows !== passed.length)
      fail(`the export of ${day} is past ${missing.length} rows of ${keyId}`)
    if (dayOf(before) === day) this.cursorsInKeys += 1
  }

  #linesOf(day: string): Line[] {
    return [...this.#parts].filter(([path]) => path.includes(`usage/dt=${day}/`)).flatMap(([, text]) => linesOf(text))
  }
}

export function dayOf(isoTime: string): string {
  return isoTime.slice(0, 'yyyy-mm-dd'.length)
}

function nameOf({ keyId, day }: Pick<Row, 'keyId' | 'day'>): string {
  return `${keyId} on ${day}`
}

function inWords(item: StoredItem): string {
  return JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

function askedIn(groups: readonly StoredItem[]): number {
  return groups.reduce((sum, { asked }) => sum + Number(asked), 0)
}

function inTwo({ requests, cost }: Sum): string {
  return `${cost} for ${requests}`
}

/** A figure that is zero is left out. */
function sumOf(parts: readonly StoredItem[]): Sum {
  return {
    requests: parts.reduce((sum, { requests = 0, calls = 0 }) => sum + Number(requests) + Number(calls), 0),
    cost: parts.reduce((sum, { cost }) => sum + nano(cost), 0n),
  }
}

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}
