import type { Rows, Schema, Shape } from '../../../layers/gateway/wire/basics/shape.ts'
import { resolve, type Type } from './definitions.ts'

/** The names in a maker's type that a table of ours has no row for: fields, words and kinds, by their paths. */
export function unknownNames(type: Type, table: Rows): string[] {
  const unknown = new Set<string>()
  const seen = new Set<string>()
  visit(type, [{ type: 'object', properties: table }], '')
  return [...unknown].sort()

  function visit(named: Type, schemas: readonly Schema[], path: string): void {
    const known = schemas.flatMap(alternatives)
    if (known.some(isWhole)) return
    // A type that contains itself is compared once at each place.
    const mark = named.kind === 'name' ? `${named.name} ${path.replace(/(\.[\w[\]=-]+?)\1+/g, '$1')}` : ''
    if (mark !== '' && seen.has(mark)) return
    seen.add(mark)
    const type = resolve(named)
    if (type.kind === 'union') for (const one of type.of) visit(one, schemas, path)
    if (type.kind === 'list') visitList(type.of, known, path)
    if (type.kind === 'word' && !known.some((schema) => allows(schema, type.word)))
      unknown.add(`${path} = ${type.word}`)
    if (type.kind === 'object') visitObject(type.fields, known, path)
  }

  function visitList(of: Type, known: readonly Schema[], path: string): void {
    const items = known.flatMap(({ items }) => (items ? [items as Shape] : []))
    if (items.length === 0) unknown.add(`${path}[]`)
    else
      visit(
        of,
        items.map(({ schema }) => schema),
        `${path}[]`,
      )
  }

  function visitObject(fields: ReadonlyMap<string, Type>, known: readonly Schema[], path: string): void {
    const kinds = known.filter(({ by }) => by !== undefined)
    const words = kinds.flatMap(({ by }) => wordsOf(fields.get(by as string)))
    const plain = known.filter(({ by, type }) => by === undefined && type === 'object')
    let isPlain = words.length === 0
    for (const kind of words) {
      const found = kinds.flatMap((schema) => rowsOf(schema, kind))
      isPlain ||= found.length === 0
      const isPlainKind = plain.some(({ properties }) => isKindOf((properties as Rows | undefined)?.type, kind))
      if (found.length === 0 && !isPlainKind) unknown.add(`${path} <${kind}>`)
      for (const rows of found) {
        const known = typeof rows === 'function' ? alternatives(rows.schema) : [{ properties: rows }]
        visitFields(fields, known, `${path}<${kind}>`)
      }
    }
    if (isPlain && plain.length > 0) visitFields(fields, plain, path)
    else if (kinds.length === 0) unknown.add(`${path} {}`)
  }

  function visitFields(fields: ReadonlyMap<string, Type>, known: readonly Schema[], path: string): void {
    if (known.some(isWhole)) return
    for (const [name, field] of fields) {
      if (name === 'type' || name === 'role') continue
      const rows = known.flatMap(({ properties, additionalProperties }) => {
        const row = (properties as Rows | undefined)?.[name] ?? (additionalProperties as Shape | undefined)
        return row ? [row.schema] : []
      })
      if (rows.length === 0) unknown.add(`${path}.${name}`)
      else visit(field, rows, `${path}.${name}`)
    }
  }
}

type Kinds = Readonly<Record<string, Rows | Shape>>

/** The rows of a kind: by its name, or by a pattern for every date of its version. */
function rowsOf({ kinds, patterns = {} }: Schema, kind: string): (Rows | Shape)[] {
  const named = (kinds as Kinds)[kind]
  if (named !== undefined) return [named]
  return Object.entries(patterns as Kinds).flatMap(([pattern, row]) => (new RegExp(pattern).test(kind) ? [row] : []))
}

const isKindOf = (type: Shape | undefined, kind: string) => type !== undefined && allows(type.schema, kind)

const alternatives = (schema: Schema): Schema[] =>
  Array.isArray(schema.anyOf)
    ? schema.anyOf.flatMap((one: Schema | Shape) => alternatives(typeof one === 'function' ? one.schema : one))
    : [schema]

/** True for a value that is taken or left as a whole, whatever is inside. */
function isWhole(schema: Schema): boolean {
  const { type, properties, additionalProperties, by, anyOf, enum: words, treatment, isHosted } = schema
  if (isHosted) return true
  if (treatment !== undefined && treatment !== 'priced') return true
  if (type === 'object') return properties === undefined && additionalProperties === undefined && by === undefined
  return (
    type === undefined && words === undefined && by === undefined && anyOf === undefined && properties === undefined
  )
}

function allows({ type, enum: words, const: only, treatment }: Schema, word: string): boolean {
  if (treatment === 'priced' || only === word) return true
  return Array.isArray(words)
    ? words.includes(word)
    : type === 'string' || (Array.isArray(type) && type.includes('string'))
}

export function wordsOf(type: Type | undefined): string[] {
  const found = type && resolve(type)
  if (found?.kind === 'word') return [found.word]
  return found?.kind === 'union' ? found.of.flatMap(wordsOf) : []
}
