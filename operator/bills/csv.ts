import { CliError } from '../terminal/cli-error.ts'

/** The records of a CSV text by RFC 4180, each by the names of its header, as `simpler` makes them. */
export function* csvRecords(
  text: string,
  name: string,
  simpler: (heading: string) => string,
): Generator<ReadonlyMap<string, string>> {
  const rows = csvRows(text, name)
  const header: readonly string[] = (rows.next().value ?? []).map(simpler)
  if (new Set(header).size !== header.length) throw new CliError(`${name} has two columns of the same name.`)
  let number = 1
  for (const cells of rows) {
    number += 1
    if (cells.length === 1 && cells[0] === '') continue
    if (cells.length !== header.length) {
      throw new CliError(
        `${name} has ${cells.length} cells in its row ${number}, not ${header.length}: it was cut off.`,
      )
    }
    yield new Map(header.map((heading, i) => [heading, cells[i] ?? '']))
  }
}

const CELL = /"([^"]*(?:""[^"]*)*)"|[^",\r\n]*/y

function* csvRows(text: string, name: string): Generator<string[], void> {
  let cells: string[] = []
  for (let at = 0; at < text.length; ) {
    CELL.lastIndex = at
    const [whole = '', quoted] = CELL.exec(text) ?? []
    at += whole.length
    cells.push(quoted === undefined ? whole : quoted.replaceAll('""', '"'))
    const end = /\r\n|[,\r\n]|$/y
    end.lastIndex = at
    const [sign] = end.exec(text) ?? []
    if (sign === undefined) throw new CliError(`${name} has a quote that is not closed, or stands within a cell.`)
    at += sign.length
    if (sign === ',') {
      if (at === text.length) cells.push('')
      continue
    }
    yield cells
    cells = []
  }
  if (cells.length > 0) yield cells
}
