import { isDeepStrictEqual } from 'node:util'
import { unsupported, validationError } from './failures.ts'
import { isReserved } from './reserved-words.ts'
import type { Path, TypeName } from './value.ts'

type Simple =
  | { readonly kind: 'path'; readonly path: Path }
  /** One of the command's values, by its placeholder. */
  | { readonly kind: 'value'; readonly token: string }
export type Operand = Simple | { readonly kind: 'size'; readonly of: Simple }
type Term = Simple | { readonly kind: 'if_not_exists'; readonly path: Path; readonly otherwise: Term }
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

type TypeRule = { readonly token: string; readonly types: ReadonlySet<TypeName>; readonly operator: string }

const typeSet = (...names: TypeName[]): ReadonlySet<TypeName> => new Set(names)
const SETS = ['SS', 'NS', 'BS'] as const
const WITH_ORDER = typeSet('S', 'N', 'B')
const WITH_SIZE = typeSet('S', 'B', ...SETS, 'L', 'M')
const NUMBER = typeSet('N')
const ALLOWED: Readonly<Partial<Record<Test['kind'], ReadonlySet<TypeName>>>> = {
  '<': WITH_ORDER,
  '<=': WITH_ORDER,
  '>': WITH_ORDER,
  '>=': WITH_ORDER,
  BETWEEN: WITH_ORDER,
  begins_with: typeSet('S', 'B'),
}
const CHANGED_BY = { ADD: typeSet('N', ...SETS), DELETE: typeSet(...SETS) }

const TOKEN = /\s*(?:([A-Za-z_]\w*|\d+|#\w+|:\w+|<=|>=|<>|[=<>(),.+[\]-])|(\S))/gy
const MOST_BYTES = 4_096
const NAME = /^[A-Za-z_#]/
const COMPARATORS: readonly Comparator[] = ['=', '<>', '<', '<=', '>', '>=']
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
    const changes = this.whole(text, () => {
      const read: Change[] = []
      while (this.at < this.tokens.length) {
        const section = SECTIONS.find((word) => this.take(word))
        if (!section) throw this.syntaxError()
        if (read.some((change) => change.section === section)) throw validationError('A section can only be used once')
        read.push(...this.list(() => this.change(section)))
      }
      return read
    })
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
    while (this.take(',')) members.push(member())
    return members
  }

  private either(): Condition {
    let left = this.both()
    while (this.take('OR')) left = { kind: 'OR', left, right: this.both() }
    return left
  }

  private both(): Condition {
    let left = this.negated()
    while (this.take('AND')) left = { kind: 'AND', left, right: this.negated() }
    return left
  }

  private negated(): Condition {
    if (this.take('NOT')) return { kind: 'NOT', of: this.negated() }
    return this.take('(') ? this.group() : this.test()
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
    for (const kind of ['begins_with', 'contains'] as const) {
      if (this.call(kind)) return this.checked(kind, [this.operand(), this.after(',')], ')')
    }
    const left = this.operand()
    const comparator = COMPARATORS.find((sign) => this.take(sign))
    if (comparator) return this.checked(comparator, [left, this.operand()])
    if (this.take('BETWEEN')) return this.between(left)
    if (!this.take('IN')) throw this.syntaxError()
    this.expect('(')
    return this.checked('IN', [left, ...this.list(() => this.operand())], ')')
  }

  private between(of: Operand): Test {
    const [low, high] = [this.operand(), this.after('AND')]
    if (low.kind === 'value' && high.kind === 'value') this.bounds.push([low.token, high.token])
    return this.checked('BETWEEN', [of, low, high])
  }

  private after(word: string): Operand {
    this.expect(word)
    return this.operand()
  }

  private checked(kind: Test['kind'], operands: Operand[], end?: ')'): Test {
    if (end) this.expect(end)
    const types = ALLOWED[kind]
    if (types) for (const operand of operands) this.allow(operand, types, kind)
    refuseSame(operands)
    return { kind, operands }
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
    const kind = (['+', '-'] as const).find((sign) => this.take(sign))
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
    refuseSame([{ kind: 'path', path }, otherwise])
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
      if (this.take('.')) path.push(this.name())
      else if (this.take('[')) path.push(this.place())
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

  private take(word: string): boolean {
    if (this.tokens[this.at]?.toUpperCase() !== word) return false
    this.at += 1
    return true
  }

  private expect(token: string): void {
    if (!this.take(token)) throw this.syntaxError()
  }

  /** Returns its argument if a parenthesis closes after it. */
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

function refuseSame([first, ...others]: readonly (Operand | Term)[]): void {
  if (others.some((other) => first?.kind === 'path' && isDeepStrictEqual(first, other))) {
    throw validationError('The first operand must be distinct from the remaining operands')
  }
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
