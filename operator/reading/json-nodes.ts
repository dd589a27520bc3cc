import { jsonFault } from '../../layers/gateway/domain/json-fault.ts'
import { CliError } from '../terminal/cli-error.ts'

type Place = { readonly start: number; readonly end: number }
export type JsonObject = Place & { readonly kind: 'object'; readonly fields: ReadonlyMap<string, JsonField> }
export type JsonField = { readonly keyStart: number; readonly node: JsonNode }

/**
 * A value of a JSON text, with its place. Numbers stay texts, because a float would change amounts. A name that an object has
 * twice has no value: readers of JSON do not agree on which one holds.
 */
export type JsonNode =
  | JsonObject
  | (Place & { readonly kind: 'list'; readonly items: readonly JsonNode[] })
  | (Place & { readonly kind: 'text' | 'number' | 'flag'; readonly text: string })
  | (Place & { readonly kind: 'null' | 'twice' })

/** `name` is that of the file, for the person who has to mend it. */
export function readNodes(text: string, name: string): JsonNode {
  const fault = jsonFault(text)
  if (fault !== undefined) throw new CliError(`${name} is not JSON that can be read: ${fault}.`)
  return nodesIn(text)
}

/** For a text that is known to be JSON, and not too deep. */
function nodesIn(text: string): JsonNode {
  let at = 0
  return value()

  function value(): JsonNode {
    const sign = nextSign()
    if (sign === '{') return object()
    if (sign === '[') return list()
    const start = at
    at = sign === '"' ? stringEnd(text, start) : scalarEnd(text, start)
    const source = text.slice(start, at)
    if (sign === '"') return { kind: 'text', text: JSON.parse(source), start, end: at }
    if (/^[-\d]/.test(source)) return { kind: 'number', text: source, start, end: at }
    return source === 'null' ? { kind: 'null', start, end: at } : { kind: 'flag', text: source, start, end: at }
  }

  function object(): JsonObject {
    const start = at++
    const fields = new Map<string, JsonField>()
    while (nextSign(',') !== '}') {
      const keyStart = at
      at = stringEnd(text, at)
      const key: string = JSON.parse(text.slice(keyStart, at))
      nextSign(':')
      const node = value()
      fields.set(key, { keyStart, node: fields.has(key) ? { kind: 'twice', start: node.start, end: node.end } : node })
    }
    at += 1
    return { kind: 'object', fields, start, end: at }
  }

  function list(): JsonNode {
    const start = at++
    const items: JsonNode[] = []
    while (nextSign(',') !== ']') items.push(value())
    at += 1
    return { kind: 'list', items, start, end: at }
  }

  /** The next sign that is neither blank nor this one. */
  function nextSign(skipped = ' '): string {
    while (' \t\r\n'.includes(text.charAt(at)) || text.charAt(at) === skipped) at += 1
    return text.charAt(at)
  }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
  return at + 1
}

function scalarEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && !' \t\r\n,]}'.includes(text.charAt(at))) at += 1
  return at
}

/** The value at a path of names; undefined if there is none, or null. Below a name that is there twice, so is all. */
export function nodeAt(node: JsonNode | undefined, ...path: readonly string[]): JsonNode | undefined {
  const found = path.reduce<JsonNode | undefined>(
    (at, name) => (at?.kind === 'twice' ? at : fieldsOf(at).get(name)?.node),
    node,
  )
  return found?.kind === 'null' ? undefined : found
}

const NONE: ReadonlyMap<string, JsonField> = new Map()

/** Of anything but an object, none. */
export function fieldsOf(node: JsonNode | undefined): ReadonlyMap<string, JsonField> {
  return node?.kind === 'object' ? node.fields : NONE
}

export function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'list' ? node.items : []
}

/** The text of a string or a number. */
export function textOf(node: JsonNode | undefined): string | undefined {
  return node?.kind === 'text' || node?.kind === 'number' ? node.text : undefined
}

/** The first name that an object within this value has twice. */
export function nameTwice(node: JsonNode): string | undefined {
  for (const [name, field] of fieldsOf(node)) {
    const found = field.node.kind === 'twice' ? name : nameTwice(field.node)
    if (found !== undefined) return found
  }
  return itemsOf(node).reduce<string | undefined>((found, item) => found ?? nameTwice(item), undefined)
}
