import { applyEdits, findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser'

export type Edit = { readonly path: readonly (string | number)[]; readonly value: unknown }

/** The text with other values in it. Everything else, blanks and order included, stays as it is. */
export function editJson(text: string, edits: readonly Edit[]): string {
  const isSpaced = /":\s/.test(text)
  const root = parseTree(text)
  const nodeAt = (path: JSONPath) => root && findNodeAtLocation(root, path)
  const pieces = edits.map(({ path, value }) => {
    const there = nodeAt([...path])
    if (there) return { offset: there.offset, length: there.length, content: inlineJson(value, isSpaced) }
    const parent = nodeAt(path.slice(0, -1))
    if (!parent) throw new Error(`There is no ${path.join('.')} to change`)
    return newField(text, parent, `"${path.at(-1)}":${isSpaced ? ' ' : ''}${inlineJson(value, isSpaced)}`)
  })
  return applyEdits(text, pieces)
}

/** A new field follows the last one, with the blanks that stand before that one. The library's own format would move others. */
function newField(text: string, { offset, children }: Node, field: string) {
  const last = children?.at(-1)
  if (!last) return { offset: offset + 1, length: 0, content: field }
  const before = text.slice(offset, last.offset)
  return { offset: last.offset + last.length, length: 0, content: `,${before.slice(before.trimEnd().length)}${field}` }
}

/** The value stands on one line, as people write small objects. */
function inlineJson(value: unknown, isSpaced: boolean): string {
  if (!isSpaced || typeof value !== 'object') return JSON.stringify(value)
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ').replaceAll('[ ', '[').replaceAll(' ]', ']')
}
