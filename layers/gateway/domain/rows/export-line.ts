import { isoTime } from '../basics/time.ts'
import {
  type Attempt,
  USAGE_FIELD_NAMES,
  USAGE_FIELDS,
  type UsageField,
  type UsageFieldKind,
  type UsageRow,
} from './usage-row.ts'

type Column = {
  readonly type: 'string' | 'bigint' | 'boolean'
  readonly of?: (value: never) => string
}

/** Money is in nanocredits, which are whole numbers, so that no reader rounds them. A price, the attempts and the tags are texts of JSON. */
const BY_KIND: Readonly<Record<UsageFieldKind, Column>> = {
  text: { type: 'string' },
  count: { type: 'bigint' },
  number: { type: 'bigint' },
  credits: { type: 'bigint' },
  moment: { type: 'string', of: isoTime },
  flag: { type: 'boolean' },
  price: { type: 'string', of: inOrder },
  attempts: { type: 'string', of: (attempts: readonly Attempt[]) => `[${attempts.map(inOrder).join(',')}]` },
  tags: { type: 'string', of: inOrder },
}

/** A price is per million tokens, as in the catalog; the API's `pricing` is per token. */
function columnName({ api, kind }: UsageField): string {
  if (kind === 'credits') return `${api}_nano`
  return kind === 'price' ? 'price' : api
}

const COLUMNS = USAGE_FIELD_NAMES.map((field) => {
  const { type, of = (value: unknown) => value } = BY_KIND[USAGE_FIELDS[field].kind]
  return { field, name: columnName(USAGE_FIELDS[field]), type, of: of as (value: unknown) => unknown }
})

/** DynamoDB gives the fields of a map in any order. */
function inOrder(fields: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** The table that Athena reads. Its days are folders, which are no columns of the lines. */
export const EXPORT_COLUMNS = COLUMNS.map(({ name, type }) => ({ name, type }))

/** One row as a line of JSON. A field that the row does not have is left out, and is null for Athena. */
export function exportLine(row: UsageRow): string {
  let line = ''
  for (const { field, name, of } of COLUMNS) {
    if (row[field] === undefined) continue
    const value = of(row[field])
    line += `${line && ','}"${name}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`
  }
  return `{${line}}\n`
}

export const EXPORT_FOLDER = 'usage'
export function exportPath(day: string, part: number, folder = EXPORT_FOLDER): string {
  return `${folder}/dt=${day}/${String(part).padStart(5, '0')}.json.gz`
}

export type Moment = { readonly atMs: number; readonly rows: UsageRow[] }

/** DynamoDB gives the rows of one millisecond in any order; their lines must always come in the same one. */
export async function* byMoment(rows: AsyncIterable<UsageRow>): AsyncGenerator<Moment, void, undefined> {
  let moment: Moment | undefined
  for await (const row of rows) {
    if (moment && moment.atMs !== row.startedAtMs) {
      yield sorted(moment)
      moment = undefined
    }
    moment ??= { atMs: row.startedAtMs, rows: [] }
    moment.rows.push(row)
  }
  if (moment) yield sorted(moment)
}

function sorted({ atMs, rows }: Moment): Moment {
  return { atMs, rows: rows.sort((a, b) => (a.requestId < b.requestId ? -1 : 1)) }
}
