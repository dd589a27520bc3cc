import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Reads the type definitions that the makers ship with their SDKs: interfaces, namespaces and type aliases.

export type Type =
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Type>; readonly optional: ReadonlySet<string> }
  | { readonly kind: 'list'; readonly of: Type }
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'name'; readonly name: string; readonly scope: Scope }
  | { readonly kind: 'other'; readonly name: string }

type Declared = { readonly type: Type; readonly extended: readonly Type[] }
/** A file or a namespace. An import is a file that is read when a name in it is looked up. */
export class Scope {
  readonly types = new Map<string, Declared>()
  readonly spaces = new Map<string, () => Scope>()
  readonly parent: Scope | undefined

  constructor(parent?: Scope) {
    this.parent = parent
  }

  find(name: string): Declared | undefined {
    const [first = '', ...rest] = name.split('.')
    if (rest.length === 0) return this.types.get(first) ?? this.parent?.find(name)
    const inside = this.spaces.get(first)?.().find(rest.join('.'))
    return inside ?? this.parent?.find(name)
  }
}

const files = new Map<string, Scope>()

export function readDefinitions(file: string): Scope {
  const known = files.get(file)
  if (known) return known
  const scope = new Scope()
  files.set(file, scope)
  const text = readFileSync(file, 'utf8')
  for (const [, name = '', from = ''] of text.matchAll(/^import \* as (\w+) from ["'](\.[^"']+)["']/gm)) {
    scope.spaces.set(name, () => readDefinitions(fileOf(file, from)))
  }
  for (const [, names = '', from = ''] of text.matchAll(/^import (?:type )?{([^}]+)} from ["'](\.[^"']+)["']/gm)) {
    for (const name of names.split(',')) importName(scope, file, name.trim(), from)
  }
  new Parser(text).declarations(scope)
  return scope
}

function importName(scope: Scope, file: string, imported: string, from: string): void {
  const [original = '', name = original] = imported.replace(/^type /, '').split(/ as /)
  if (original === '' || !existsSync(fileOf(file, from))) return
  const type: Type = { kind: 'name', name: `${from}.${original}`, scope }
  scope.spaces.set(from, () => readDefinitions(fileOf(file, from)))
  scope.types.set(name, {
    get type() {
      const found = readDefinitions(fileOf(file, from)).find(original)
      return found ? { kind: 'name', name: original, scope: readDefinitions(fileOf(file, from)) } : type
    },
    extended: [],
  } as Declared)
}

const fileOf = (file: string, from: string) => join(dirname(file), from.replace(/\.m?js$/, '.d.ts'))

/** The type behind a name, with the fields of the interfaces that it extends. */
export function resolve(type: Type): Type {
  if (type.kind !== 'name') return type
  const declared = type.scope.find(type.name)
  if (!declared) return { kind: 'other', name: type.name }
  const own = resolve(declared.type)
  if (own.kind !== 'object' || declared.extended.length === 0) return own
  const all = [...declared.extended.map(resolve), own].filter((type) => type.kind === 'object')
  return {
    kind: 'object',
    fields: new Map(all.flatMap(({ fields }) => [...fields])),
    optional: new Set(all.flatMap(({ optional }) => [...optional])),
  }
}

const TOKEN = /\s+|\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w$.]+|=>|[^\s\w]/y

class Parser {
  readonly #tokens: string[] = []
  #at = 0

  constructor(text: string) {
    TOKEN.lastIndex = 0
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
      if (!/^(?:\s|\/\*|\/\/)/.test(match[0])) this.#tokens.push(match[0])
    }
  }

  /** Declarations up to the end of the file or of the namespace. */
  declarations(scope: Scope): void {
    while (this.#at < this.#tokens.length && this.#peek() !== '}') {
      const token = this.#next()
      if (token === 'interface') this.#interface(scope)
      else if (token === 'namespace') this.#namespace(scope)
      else if (token === 'type' && /^\w+$/.test(this.#peek())) this.#alias(scope)
      else if (token === '{') this.#skipTo('}')
    }
  }

  #interface(scope: Scope): void {
    const name = this.#next()
    this.#parameters()
    const extended: Type[] = []
    if (this.#peek() === 'extends') {
      do {
        this.#next()
        extended.push(this.#single(scope))
      } while (this.#peek() === ',')
    }
    scope.types.set(name, { type: this.#object(scope), extended })
  }

  #namespace(scope: Scope): void {
    const name = this.#next()
    const before = scope.spaces.get(name)?.()
    const inner = before ?? new Scope(scope)
    scope.spaces.set(name, () => inner)
    this.#next()
    this.declarations(inner)
    this.#next()
  }

  #alias(scope: Scope): void {
    const name = this.#next()
    this.#parameters()
    this.#next()
    scope.types.set(name, { type: this.#type(scope), extended: [] })
  }

  #parameters(): void {
    if (this.#peek() !== '<') return
    this.#next()
    this.#skipTo('>')
  }

  #type(scope: Scope): Type {
    if (this.#peek() === '|') this.#next()
    const of = [this.#single(scope)]
    while (this.#peek() === '|') {
      this.#next()
      of.push(this.#single(scope))
    }
    return of.length === 1 ? (of[0] as Type) : { kind: 'union', of }
  }

  #single(scope: Scope): Type {
    let type = this.#plain(scope)
    while (this.#peek() === '[' || this.#peek() === '&') {
      const mark = this.#next()
      if (mark === '&') this.#plain(scope)
      else if (this.#next() === ']') type = { kind: 'list', of: type }
      else this.#skipTo(']')
    }
    return type
  }

  #plain(scope: Scope): Type {
    if (this.#peek() === '{') return this.#object(scope)
    const token = this.#next()
    if (token === '[') {
      this.#skipTo(']')
      return { kind: 'other', name: token }
    }
    if (token === '(') {
      const type = this.#type(scope)
      if (this.#next() !== ')') this.#skipTo(')')
      if (this.#peek() !== '=>') return type
      this.#next()
      return this.#type(scope)
    }
    if (/^['"]/.test(token)) return { kind: 'word', word: token.slice(1, -1) }
    const [of] = this.#arguments(scope)
    if ((token === 'Array' || token === 'ReadonlyArray') && of) return { kind: 'list', of }
    if (token === 'Omit' && of) return of
    return /^[A-Z]/.test(token) ? { kind: 'name', name: token, scope } : { kind: 'other', name: token }
  }

  #arguments(scope: Scope): Type[] {
    const types: Type[] = []
    if (this.#peek() !== '<') return types
    do {
      this.#next()
      types.push(this.#type(scope))
    } while (this.#peek() === ',')
    this.#next()
    return types
  }

  #object(scope: Scope): Type {
    const fields = new Map<string, Type>()
    const optional = new Set<string>()
    this.#next()
    while (this.#peek() !== '}') {
      const name = this.#next()
      if (name === '[' || name === '(') {
        this.#skipTo(name === '[' ? ']' : ')')
        if (this.#peek() === ':') this.#member(scope)
      } else if (this.#peek() === '(' || this.#peek() === '<') {
        while (this.#peek() !== ';') this.#next()
      } else if (name !== 'readonly' && name !== ';') {
        const plain = name.replace(/^['"]|['"]$/g, '')
        if (this.#peek() === '?') optional.add(plain)
        fields.set(plain, this.#member(scope))
      }
    }
    this.#next()
    return { kind: 'object', fields, optional }
  }

  #member(scope: Scope): Type {
    if (this.#peek() === '?') this.#next()
    this.#next()
    const type = this.#type(scope)
    if (this.#peek() === ';' || this.#peek() === ',') this.#next()
    return type
  }

  /** Skips to the bracket that closes the one that was read last. */
  #skipTo(close: string): void {
    const open = { '}': '{', '>': '<', ']': '[', ')': '(' }[close]
    for (let depth = 1; depth > 0 && this.#at < this.#tokens.length; ) {
      const token = this.#next()
      if (token === open) depth += 1
      if (token === close) depth -= 1
    }
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? ''
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? ''
  }
}
