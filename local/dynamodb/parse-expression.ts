import { unsupported, validationError } from './failures.ts'
import { isReserved } from './reserved-words.ts'
import type { Path, TypeName } from './value.ts'

type Simple =
  | { readonly kind: 'path'; readonly path: Path }
  /** One of the command's values, by its placeholder. */
  | { readonly kind: 'value'; readonly token: string }
export type Operand = Simple | { readonly kind: 'size'; readonly of: Simple }
type Term = Simple | { readonly kind: 'if_not_exists'; readonly path: Path; readonly otherwise: Term }
/** The right side of an assignment. */
export type Result = Term | { readonly kind: '+' | '-'; readonly left: Term; readonly right: Term }

type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='
type FunctionName = 'attribute_exists' | 'attribute_not_exists' | 'begins_with' | 'contains'
export type Test = {
  readonly kind: Comparator | FunctionName | 'BETWEEN' | 'IN'
  readonly operands: readonly Operand[]
}
export type Condition =
  | { readonly kind: 'AND' | 'OR'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'NOT'; readonly of: Condition }
  | Test

export type Change =
  | { readonly section: 'SET'; readonly path: Path; readonly value: Result }
  | { readonly section: 'REMOVE'; readonly path: Path }
  | { readonly section: 'ADD' | 'DELETE'; readonly path: Path; readonly token: string }

/** The types that a value may have where it stands. */
type TypeRule = { readonly token: string; readonly types: ReadonlySet<TypeName>; readonly operator: string }

const typeSet = (...names: TypeName[]): ReadonlySet<TypeName> => new Set(names)
const SETS = ['SS', 'NS', 'BS'] as const
const WITH_ORDER = typeSet('S', 'N', 'B')
const WITH_BEGINNING = typeSet('S', 'B')
const WITH_SIZE = typeSet('S', 'B', ...SETS, 'L', 'M')
const NUMBER = typeSet('N')
const CHANGED_BY = { ADD: typeSet('N', ...SETS), DELETE: typeSet(...SETS) }

const TOKEN = /\s*(?:([A-Za-z_]\w*|\d+|#\w+|:\w+|<=|>=|<>|[=<>(),.+[\]-])|(\S))/gy
const MOST_BYTES = 4_096
const NAME = /^[A-Za-z_#]/
const COMPARATORS: ReadonlySet<string> = new Set<Comparator>(['=', '<>', '<', '<=', '>', '>='])
const SECTIONS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const

/** Reads the expressions of one command, and notes which of its names and values they use. */
export class ExpressionParser {
  readonly usedNames = new Set<string>()
  readonly usedValues = new Set<string>()
  readonly typeRules: TypeRule[] = []
  /** The bounds of each BETWEEN that has values for both. */
  readonly bounds: (readonly [low: string, high: string])[] = []
  private readonly names: Readonly<Record<string, string>>
  private tokens: string[] = []
  private at = 0
  private lastGroup: Condition | undefined

  constructor(names: Readonly<Record<string, string>>) {
    this.names = names
  }

  condition(text: string): Condition {
    return this.whole(text, () => this.either())
  }

  projection(text: string): Path[] {
    const paths = this.whole(text, () => this.list(() => this.path()))
    refuseOverlap(paths)
    return paths
  }

  update(text: string): Change[] {
    const sections = this.whole(text, () => {
      const read = new Map<string, Change[]>()
      do {
        const section = SECTIONS.find((word) => this.keyword(word))
        if (!section) throw this.syntaxError()
        if (read.has(section)) throw validationError('A section can only be used once')
        read.set(
          section,
          this.list(() => this.change(section)),
        )
      } while (this.at < this.tokens.length)
      return read
    })
    const changes = [...sections.values()].flat()
    refuseOverlap(changes.map(({ path }) => path))
    return changes
  }

  private whole<T>(text: string, read: () => T): T {
    if (text.trim() === '') throw validationError('The expression can not be empty;')
    if (text.length > MOST_BYTES) throw validationError('Expression size has exceeded the maximum allowed size;')
    this.tokens = Array.from(text.matchAll(TOKEN), ([, token, stray]) => {
      if (stray) throw validationError(`Syntax error; token: "${stray}"`)
      return token as string
    })
    this.at = 0
    const result = read()
    if (this.at < this.tokens.length) throw this.syntaxError()
    return result
  }

  private list<T>(member: () => T): T[] {
    const members = [member()]
    while (this.symbol(',')) members.push(member())
    return members
  }

  private either(): Condition {
    let left = this.both()
    while (this.keyword('OR')) left = { kind: 'OR', left, right: this.both() }
    return left
  }

  private both(): Condition {
    let left = this.negated()
    while (this.keyword('AND')) left = { kind: 'AND', left, right: this.negated() }
    return left
  }

  private negated(): Condition {
    if (this.keyword('NOT')) return { kind: 'NOT', of: this.negated() }
    return this.symbol('(') ? this.group() : this.test()
  }

  private group(): Condition {
    const inner = this.either()
    this.expect(')')
    if (inner === this.lastGroup) throw validationError('The expression has redundant parentheses;')
    this.lastGroup = inner
    return inner
  }

  private test(): Test {
    for (const kind of ['attribute_exists', 'attribute_not_exists'] as const) {
      if (this.call(kind)) return { kind, operands: [{ kind: 'path', path: this.closed(this.path()) }] }
    }
    if (this.call('begins_with')) return this.checked('begins_with', this.pair(), WITH_BEGINNING)
    if (this.call('contains')) return this.checked('contains', this.pair())
    const left = this.operand()
    const sign = this.tokens[this.at] ?? ''
    if (COMPARATORS.has(sign)) {
      this.at += 1
      const types = sign === '=' || sign === '<>' ? undefined : WITH_ORDER
      return this.checked(sign as Comparator, [left, this.operand()], types)
    }
    if (this.keyword('BETWEEN')) return this.between(left)
    if (!this.keyword('IN')) throw this.syntaxError()
    this.expect('(')
    return this.checked('IN', [left, ...this.closed(this.list(() => this.operand()))])
  }

  private between(of: Operand): Test {
    const low = this.operand()
    if (!this.keyword('AND')) throw this.syntaxError()
    const high = this.operand()
    if (low.kind === 'value' && high.kind === 'value') this.bounds.push([low.token, high.token])
    return this.checked('BETWEEN', [of, low, high], WITH_ORDER)
  }

  private pair(): Operand[] {
    const of = this.operand()
    this.expect(',')
    return [of, this.closed(this.operand())]
  }

  private checked(kind: Test['kind'], operands: Operand[], types?: ReadonlySet<TypeName>): Test {
    if (types) for (const operand of operands) this.allow(operand, types, kind)
    this.refuseSame(operands)
    return { kind, operands }
  }

  private refuseSame([first, ...others]: readonly (Operand | Term)[]): void {
    if (first?.kind !== 'path') return
    if (others.some((other) => other.kind === 'path' && areSame(first.path, other.path))) {
      throw validationError('The first operand must be distinct from the remaining operands')
    }
  }

  private allow(operand: Operand | Term, types: ReadonlySet<TypeName>, operator: string): void {
    if (operand.kind === 'value') this.typeRules.push({ token: operand.token, types, operator })
    if (operand.kind === 'size' && !types.has('N')) throw wrongType(operator, 'N')
  }

  private operand(): Operand {
    if (!this.call('size')) return this.pathOrValue()
    const of = this.closed(this.pathOrValue())
    this.allow(of, WITH_SIZE, 'size')
    return { kind: 'size', of }
  }

  private change(section: (typeof SECTIONS)[number]): Change {
    const path = this.path()
    if (path.some((step) => typeof step === 'number')) throw unsupported('a change of one element of a list')
    if (section === 'REMOVE') return { section, path }
    if (section === 'SET') {
      this.expect('=')
      return { section, path, value: this.result() }
    }
    const value = this.pathOrValue()
    if (value.kind !== 'value') throw this.syntaxError()
    this.allow(value, CHANGED_BY[section], section)
    return { section, path, token: value.token }
  }

  private result(): Result {
    const left = this.term()
    const kind = (['+', '-'] as const).find((sign) => this.symbol(sign))
    if (!kind) return left
    const right = this.term()
    for (const side of [left, right]) this.allow(side, NUMBER, kind)
    return { kind, left, right }
  }

  private term(): Term {
    if (!this.call('if_not_exists')) return this.pathOrValue()
    const path = this.path()
    this.expect(',')
    const otherwise = this.closed(this.term())
    this.refuseSame([{ kind: 'path', path }, otherwise])
    return { kind: 'if_not_exists', path, otherwise }
  }

  private pathOrValue(): Simple {
    const token = this.tokens[this.at] ?? ''
    if (token === '(') throw unsupported('operands in parentheses')
    if (this.tokens[this.at + 1] === '(') throw unsupported(`the function ${token} here`)
    if (!token.startsWith(':')) return { kind: 'path', path: this.path() }
    this.at += 1
    this.usedValues.add(token)
    return { kind: 'value', token }
  }

  private path(): Path {
    const path: (string | number)[] = [this.name()]
    for (;;) {
      if (this.symbol('.')) path.push(this.name())
      else if (this.symbol('[')) path.push(this.place())
      else return path
    }
  }

  private place(): number {
    const token = this.tokens[this.at] ?? ''
    if (!/^\d{1,9}$/.test(token)) throw this.syntaxError()
    this.at += 1
    this.expect(']')
    return Number(token)
  }

  private name(): string {
    const token = this.tokens[this.at] ?? ''
    if (!NAME.test(token)) throw this.syntaxError()
    if (isReserved(token)) throw validationError(`Attribute name is a reserved keyword; reserved keyword: ${token}`)
    this.at += 1
    if (!token.startsWith('#')) return token
    this.usedNames.add(token)
    const name = this.names[token]
    if (typeof name === 'string') return name
    throw validationError(`An expression attribute name is not defined; attribute name: ${token}`)
  }

  private call(name: string): boolean {
    if (this.tokens[this.at] !== name || this.tokens[this.at + 1] !== '(') return false
    this.at += 2
    return true
  }

  private keyword(word: string): boolean {
    if (this.tokens[this.at]?.toUpperCase() !== word) return false
    this.at += 1
    return true
  }

  private symbol(token: string): boolean {
    if (this.tokens[this.at] !== token) return false
    this.at += 1
    return true
  }

  private expect(token: string): void {
    if (!this.symbol(token)) throw this.syntaxError()
  }

  /** What was read, if a parenthesis closes after it. */
  private closed<T>(read: T): T {
    this.expect(')')
    return read
  }

  private syntaxError() {
    return validationError(`Syntax error; token: "${this.tokens[this.at] ?? '<EOF>'}"`)
  }
}

export function wrongType(operator: string, type: TypeName) {
  return validationError(
    `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`,
  )
}

function areSame(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, i) => step === b[i])
}

/** No path may be another one or lead to it, and no two may take the same value for a map and for a list. */
function refuseOverlap(paths: readonly Path[]): void {
  for (const [i, path] of paths.entries()) {
    for (const other of paths.slice(i + 1)) {
      const at = path.findIndex((step, place) => step !== other[place])
      const [left, right] = [path[at], other[at]]
      if (left === undefined || right === undefined) {
        throw validationError('Two document paths overlap with each other')
      }
      if (typeof left !== typeof right) throw validationError('Two document paths conflict with each other')
    }
  }
}
