import { fieldsOf, itemsOf, type JsonNode, type JsonObject } from '../reading/json-nodes.ts'

/** A field that gets a value, at its path of names and indexes. */
export type Edit = { readonly path: readonly (string | number)[]; readonly value: unknown }

type Piece = { readonly start: number; readonly end: number; readonly text: string }

/** The text with other values in it. Everything else, blanks and order included, stays as it is. */
export function editJson(text: string, root: JsonNode, edits: readonly Edit[]): string {
  const pieces = edits.map(({ path, value }) => {
    const parent = path.slice(0, -1).reduce<JsonNode | undefined>(stepInto, root)
    if (parent?.kind !== 'object') throw new Error(`There is no ${path.join('.')} to change`)
    return pieceFor(text, parent, String(path.at(-1)), value)
  })
  // From the end, so that places before it stay right. At one place, the first edit comes first.
  const ordered = pieces.map((piece, i) => ({ ...piece, i })).sort((a, b) => b.start - a.start || b.i - a.i)
  return ordered.reduce((edited, { start, end, text: put }) => edited.slice(0, start) + put + edited.slice(end), text)
}

function stepInto(node: JsonNode | undefined, step: string | number): JsonNode | undefined {
  return typeof step === 'number' ? itemsOf(node)[step] : fieldsOf(node).get(step)?.node
}

/** A new field follows the last one, with the blanks that stand before that one. */
function pieceFor(text: string, parent: JsonObject, name: string, value: unknown): Piece {
  const isSpaced = /":\s/.test(text)
  const there = parent.fields.get(name)?.node
  if (there) return { start: there.start, end: there.end, text: inlineJson(value, isSpaced) }
  const field = `"${name}":${isSpaced ? ' ' : ''}${inlineJson(value, isSpaced)}`
  const last = [...parent.fields.values()].at(-1)
  if (!last) return { start: parent.start + 1, end: parent.start + 1, text: field }
  const before = text.slice(parent.start, last.keyStart)
  const blanks = before.slice(before.trimEnd().length)
  return { start: last.node.end, end: last.node.end, text: `,${blanks}${field}` }
}

/** On one line, as people write small objects. */
function inlineJson(value: unknown, isSpaced: boolean): string {
  const [gap, pad] = isSpaced ? [', ', ' '] : [',', '']
  if (Array.isArray(value)) return `[${value.map((item) => inlineJson(item, isSpaced)).join(gap)}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const texts = fields.map(([name, field]) => `"${name}":${pad}${inlineJson(field, isSpaced)}`)
  return `{${pad}${texts.join(gap)}${pad}}`
}
