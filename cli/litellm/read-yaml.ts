import { isAlias, isMap, isNode, isScalar, isSeq, type Node, parseAllDocuments, type YAMLMap } from 'yaml'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { type Exact, type ExactObject, fieldsAt } from '../reading/exact-json.ts'

/** An alias is a copy of its anchor, so a short file can be a very large value. */
const MOST_NODES = 100_000
const MOST_DEPTH = 64

/**
 * A YAML text as a value whose numbers are texts, as one of JSON is read. As PyYAML reads it: YAML 1.1, with `<<`, and of
 * a name that is there twice the last one holds, which is told.
 */
export function readYaml(text: string, name: string, onTwice: (key: string) => void): Exact {
  // Names that are there twice are found below: the library compares each with all others.
  const options = { version: '1.1', logLevel: 'silent', uniqueKeys: false } as const
  const [document, ...more] = parseAllDocuments(text, options)
  if (!document || !('contents' in document) || !document.contents) throw new CliError(`${name} is empty.`)
  if (more.length > 0) throw new CliError(`${name} has more than one document.`)
  const [fault] = document.errors
  if (fault) {
    const [at] = fault.linePos ?? []
    // The library quotes the text in its message, which may have a key of a provider.
    throw new CliError(
      `${name} is not YAML that can be read${at ? `: line ${at.line}, column ${at.col}` : ''} (${fault.code}).`,
    )
  }
  // Filled on the way, because an anchor stands before its aliases. The library would look through the whole text for each.
  const anchors = new Map<string, Node>()
  let nodes = 0
  return exactOf(document.contents, 0)

  function exactOf(node: unknown, depth: number): Exact {
    nodes += 1
    if (nodes > MOST_NODES || depth > MOST_DEPTH) throw new CliError(`${name} is too large, or nested too deep.`)
    if (isAlias(node)) return exactOf(anchored(node.source), depth + 1)
    if (isNode(node) && 'anchor' in node && node.anchor) anchors.set(node.anchor, node)
    if (isSeq(node)) return node.items.map((item) => exactOf(item, depth + 1))
    return isMap(node) ? objectOf(node, depth) : scalarOf(node)
  }

  function anchored(anchor: string): Node {
    const node = anchors.get(anchor)
    if (!node) throw new CliError(`${name} has an alias of an anchor that does not stand before it.`)
    return node
  }

  /** Fields of their own win over those that `<<` brings. */
  function objectOf(map: YAMLMap, depth: number): ExactObject {
    const [merged, own] = [new Map<string, Exact>(), new Map<string, Exact>()]
    for (const { key, value } of map.items) {
      const field = exactOf(value, depth + 1)
      const keyText = isScalar(key) ? (key.source ?? String(key.value)) : undefined
      if (keyText === undefined) throw new CliError(`${name} has a name that is no text.`)
      if (own.has(keyText)) onTwice(plainLine(keyText, 60))
      if (keyText !== '<<') own.set(keyText, field)
      else
        for (const one of Array.isArray(field) ? field : [field])
          for (const [inner, brought] of fieldsAt(one)) if (!merged.has(inner)) merged.set(inner, brought)
    }
    return Object.fromEntries([...merged, ...own])
  }
}

function scalarOf(node: unknown): Exact {
  const value = isScalar(node) ? node.value : null
  if (value === null || value === undefined) return null
  const source = isScalar(node) ? (node.source ?? String(value)) : ''
  // PyYAML takes yes and no for flags, and y and n not.
  if (typeof value === 'boolean' && source.length > 1) return value
  // A number or a day is a text here, as it stands.
  return typeof value === 'string' ? value : source
}
