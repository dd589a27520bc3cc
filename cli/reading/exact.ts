import { visit } from 'jsonc-parser'
import { jsonFault } from '../../layers/gateway/domain/basics/json-fault.ts'
import { CliError } from '../../layers/terminal/output.ts'

/** Stands for the value of a name that an object has twice: readers of JSON do not agree on which one holds. */
export const TWICE = Symbol('twice')

/** A value of JSON or YAML. Numbers stay texts, because a float would change amounts. The only symbol is TWICE. */
export type Exact = string | boolean | null | symbol | readonly Exact[] | ExactMap
type ExactMap = ReadonlyMap<string, Exact>

export function utf8Of({ bytes, name }: { readonly bytes: Uint8Array; readonly name: string }): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CliError(`${name} is not a text in UTF-8.`)
  }
}

/** `name` is that of the file, for the person who has to mend it. */
export function readExactJson(text: string, name: string, onTwice?: (key: string) => void): Exact {
  const fault = jsonFault(text)
  if (fault !== undefined) throw new CliError(`${name} is not JSON that can be read: ${fault}.`)
  const root: Exact[] = []
  const open: (Exact[] | Map<string, Exact>)[] = [root]
  let key = ''
  visit(text, {
    onObjectBegin: () => begin(new Map()),
    onArrayBegin: () => begin([]),
    onObjectEnd: () => void open.pop(),
    onArrayEnd: () => void open.pop(),
    onObjectProperty(property) {
      key = property
    },
    onLiteralValue: (value, at, length) => put(typeof value === 'number' ? text.slice(at, at + length) : value),
  })
  return root[0] ?? null

  function begin(holder: Exact[] | Map<string, Exact>): void {
    put(holder)
    open.push(holder)
  }

  function put(value: Exact): void {
    const holder = open.at(-1)
    if (Array.isArray(holder)) holder.push(value)
    else if (holder?.has(key)) {
      onTwice?.(key)
      holder.set(key, TWICE)
    } else holder?.set(key, value)
  }
}

export function isObject(value: Exact | undefined): value is ExactMap {
  return value instanceof Map
}

/** The value at a path of names; undefined if there is none, or null. All below a name that is there twice is TWICE. */
export function at(value: Exact | undefined, ...path: readonly string[]): Exact | undefined {
  let found = value
  for (const name of path) {
    if (found === TWICE) return TWICE
    found = isObject(found) ? found.get(name) : undefined
  }
  return found ?? undefined
}

export function textAt(value: Exact | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function itemsAt(value: Exact | undefined, ...path: readonly string[]): readonly Exact[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

export function fieldsAt(value: Exact | undefined, ...path: readonly string[]): [string, Exact][] {
  const found = at(value, ...path)
  return isObject(found) ? [...found] : []
}
