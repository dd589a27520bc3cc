import { visit } from 'jsonc-parser'
import { jsonFault } from '../../layers/gateway/domain/basics/json-fault.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'

/** Stands for the value of a name that an object has twice: readers of JSON do not agree on which one holds. */
export const TWICE = Symbol('twice')

/** A value of a text. Numbers stay texts, because a float would change amounts. The only symbol is TWICE. */
export type Exact = string | boolean | null | symbol | readonly Exact[] | ExactObject
export type ExactObject = { readonly [name: string]: Exact }

/** `name` is that of the file, for the person who has to mend it. */
export function readExactJson(text: string, name: string): Exact {
  const fault = jsonFault(text)
  if (fault !== undefined) throw new CliError(`${name} is not JSON that can be read: ${fault}.`)
  return exactValue(text)
}

const OWN = { writable: true, enumerable: true, configurable: true } as const

/** For a text that is known to be JSON. */
function exactValue(text: string): Exact {
  const root: Exact[] = []
  const open: (Exact[] | Record<string, Exact>)[] = [root]
  let name = ''
  visit(text, {
    onObjectBegin: () => begin({}),
    onArrayBegin: () => begin([]),
    onObjectEnd: () => void open.pop(),
    onArrayEnd: () => void open.pop(),
    onObjectProperty(property) {
      name = property
    },
    onLiteralValue: (value, at, length) => put(typeof value === 'number' ? text.slice(at, at + length) : value),
  })
  return root[0] ?? null

  function begin(holder: Exact[] | Record<string, Exact>): void {
    put(holder)
    open.push(holder)
  }

  function put(value: Exact): void {
    const holder = open.at(-1)
    if (Array.isArray(holder)) holder.push(value)
    else if (holder && Object.hasOwn(holder, name)) holder[name] = TWICE
    // A name such as __proto__ is one like any other.
    else if (holder && name in holder) Object.defineProperty(holder, name, { value, ...OWN })
    else if (holder) holder[name] = value
  }
}

export function isObject(value: Exact | undefined): value is ExactObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of names; undefined if there is none, or null. Below a name that is there twice, so is all. */
export function at(value: Exact | undefined, ...path: readonly string[]): Exact | undefined {
  let found = value
  for (const name of path) {
    if (found === TWICE) return TWICE
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found ?? undefined
}

/** The text of a string or a number. */
export function textAt(value: Exact | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

/** None of anything but a list. */
export function itemsAt(value: Exact | undefined, ...path: readonly string[]): readonly Exact[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** None of anything but an object. */
export function fieldsAt(value: Exact | undefined, ...path: readonly string[]): [string, Exact][] {
  const found = at(value, ...path)
  return isObject(found) ? Object.entries(found) : []
}

/** The first name that an object within this value has twice. */
export function nameTwice(value: Exact): string | undefined {
  const fields = Array.isArray(value) ? value.map((item) => ['', item] as const) : fieldsAt(value)
  for (const [name, field] of fields) {
    const found = field === TWICE ? name : nameTwice(field)
    if (found !== undefined) return found
  }
  return undefined
}
