import { isDeepStrictEqual } from 'node:util'
import type { Change, Comparator, Condition, Operand, Result, Simple, Term, Test } from './expression.ts'
import { unsupported, validationError } from './failures.ts'
import { refuseTwice } from './keys.ts'
import { isReserved } from './reserved-words.ts'
import type { TypeName } from './value.ts'

type TypeRule = { readonly token: string; readonly types: ReadonlySet<TypeName>; readonly operator: string }

const typeSet = (...names: TypeName[]): ReadonlySet<TypeName> => new Set(names)
const WITH_ORDER = typeSet('S', 'N', 'B')
const WITH_SIZE = typeSet('S', 'B', 'BS', 'L', 'M')
const NUMBER = typeSet('N')
const ALLOWED: Readonly<Partial<Record<Test['kind'], ReadonlySet<TypeName>>>> = {
  '<': WITH_ORDER,
  '<=': WITH_ORDER,
  '>': WITH_ORDER,
  '>=': WITH_ORDER,
  BETWEEN: WITH_ORDER,
  begins_with: typeSet('S', 'B'),
}
const CHANGED_BY = { ADD: typeSet('N', 'BS'), DELETE: typeSet('BS') }

const TOKEN = /\s*(?:([A-Za-z_]\w*|\d+|#\w+|:\w+|<=|>=|<>|[=<>(),.+[\]-])|(\S))/gy
const MOST_BYTES = 4_096
const OVERLAP = 'Two document paths overlap with each other'
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

  projection(text: string): string[] {
    const names = this.whole(text, () => this.list(() => this.name()))
    refuseTwice(names, OVERLAP)
    return names
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
    refuseTwice(
      changes.map(({ name }) => name),
      OVERLAP,
    )
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
    return this.joined('OR', () => this.joined('AND', () => this.negated()))
  }

  private joined(kind: 'AND' | 'OR', read: () => Condition): Condition {
    let left = read()
    while (this.take(kind)) left = { kind, left, right: read() }
    return left
  }

  private negated(): Condition {
    if (this.take('NOT')) return { kind: 'NOT', of: this.negated() }
    if (!this.take('(')) return this.test()
    const inner = this.closed(this.either())
    if (inner === this.lastGroup) throw validationError('The expression has redundant parentheses;')
    this.lastGroup = inner
    return inner
  }

  private test(): Test {
    for (const kind of ['attribute_exists', 'attribute_not_exists'] as const) {
      if (this.call(kind)) return { kind, operands: [{ kind: 'attribute', name: this.closed(this.name()) }] }
    }
    for (const kind of ['begins_with', 'contains'] as const) {
      if (this.call(kind)) return this.checked(kind, this.closed(this.pair(',')))
    }
    const left = this.operand()
    const comparator = COMPARATORS.find((sign) => this.take(sign))
    if (comparator) return this.checked(comparator, [left, this.operand()])
    if (this.take('BETWEEN')) {
      const [low, high] = this.pair('AND')
      if (low.kind === 'value' && high.kind === 'value') this.bounds.push([low.token, high.token])
      return this.checked('BETWEEN', [left, low, high])
    }
    if (!this.take('IN')) throw this.syntaxError()
    this.expect('(')
    return this.checked('IN', [left, ...this.closed(this.list(() => this.operand()))])
  }

  private pair(between: string): [Operand, Operand] {
    const first = this.operand()
    this.expect(between)
    return [first, this.operand()]
  }

  private checked(kind: Test['kind'], operands: Operand[]): Test {
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
    if (!this.call('size')) return this.nameOrValue()
    const of = this.closed(this.nameOrValue())
    this.allow(of, WITH_SIZE, 'size')
    return { kind: 'size', of }
  }

  private change(section: (typeof SECTIONS)[number]): Change {
    const name = this.name()
    if (section === 'REMOVE') return { section, name }
    if (section === 'SET') {
      this.expect('=')
      return { section, name, value: this.result() }
    }
    const value = this.nameOrValue()
    if (value.kind !== 'value') throw this.syntaxError()
    this.allow(value, CHANGED_BY[section], section)
    return { section, name, token: value.token }
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
    if (!this.call('if_not_exists')) return this.nameOrValue()
    const name = this.name()
    this.expect(',')
    const otherwise = this.closed(this.term())
    refuseSame([{ kind: 'attribute', name }, otherwise])
    return { kind: 'if_not_exists', name, otherwise }
  }

  private nameOrValue(): Simple {
    const token = this.tokens[this.at] ?? ''
    if (token === '(') throw unsupported('operands in parentheses')
    if (this.tokens[this.at + 1] === '(') throw unsupported(`the function ${token} here`)
    if (!token.startsWith(':')) return { kind: 'attribute', name: this.name() }
    this.at += 1
    this.usedValues.add(token)
    return { kind: 'value', token }
  }

  private name(): string {
    const token = this.tokens[this.at] ?? ''
    if (!NAME.test(token)) throw this.syntaxError()
    if (isReserved(token)) throw validationError(`Attribute name is a reserved keyword; reserved keyword: ${token}`)
    this.at += 1
    if (/^[.[]$/.test(this.tokens[this.at] ?? '')) throw unsupported('paths into maps and lists')
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
  if (others.some((other) => first?.kind === 'attribute' && isDeepStrictEqual(first, other))) {
    throw validationError('The first operand must be distinct from the remaining operands')
  }
}
