import { unsupported, validationError } from './failures.ts'
import { isReserved } from './reserved-words.ts'
import { attribute, COMBINED, type Found, type Item, sizeOf, sum, TESTS, type TypeName, type Value } from './values.ts'

export type Values = Readonly<Record<string, Value>>
type Read = (item: Item, values: Values) => Found
/** `name` is that of an attribute, `token` that of a value's placeholder. */
type Operand = { readonly read: Read; readonly name?: string; readonly token?: string; readonly type?: TypeName }

type Kind = keyof typeof TESTS
type Holds = (item: Item, values: Values) => boolean
/** The parts of a condition, whichever way they are joined. */
export type Part = { readonly kind: Kind | 'OR' | 'NOT'; readonly operands: readonly Operand[] }
export type Condition = { readonly holds: Holds; readonly parts: readonly Part[] }

type Section = (typeof SECTIONS)[number]
/** Its value is undefined if the attribute is to be removed. */
type Change = { readonly section: Section; readonly name: string; readonly value: Read }

type TypeRule = { readonly token: string; readonly types: readonly TypeName[]; readonly operator: string }

const WITH_ORDER: readonly TypeName[] = ['S', 'N', 'B']
/** The types of the values that an operator takes; any, unless it is here. */
const TYPES: Readonly<Record<string, readonly TypeName[]>> = {
  '<': WITH_ORDER,
  '<=': WITH_ORDER,
  '>': WITH_ORDER,
  '>=': WITH_ORDER,
  BETWEEN: WITH_ORDER,
  size: ['S', 'B', 'BS', 'L', 'M'],
  '+': ['N'],
  '-': ['N'],
  ADD: ['N', 'BS'],
  DELETE: ['BS'],
}

const TOKEN = /\s*(?:([A-Za-z_]\w*|\d+|#\w+|:\w+|<=|>=|<>|[=<>(),.+[\]-])|(\S))/gy
const NAME = /^[A-Za-z_#]/
const COMPARATORS = ['=', '<>', '<', '<=', '>', '>='] as const
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
  private parts: Part[] = []
  private lastGroup: Holds | undefined

  constructor(names: Readonly<Record<string, string>>) {
    this.names = names
  }

  condition(text: string): Condition {
    const parts: Part[] = []
    this.parts = parts
    return { holds: this.whole(text, () => this.either()), parts }
  }

  projection(text: string): string[] {
    const names = this.whole(text, () => this.list(() => this.name()))
    return distinct(names, (name) => name)
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
    return distinct(changes, ({ name }) => name)
  }

  private whole<T>(text: string, read: () => T): T {
    if (text.trim() === '') throw validationError('The expression can not be empty;')
    if (text.length > 4_096) throw validationError('Expression size has exceeded the maximum allowed size;')
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

  private either(): Holds {
    const first = this.both()
    if (!this.take('OR')) return first
    this.parts.push({ kind: 'OR', operands: [] })
    const second = this.either()
    return (item, values) => first(item, values) || second(item, values)
  }

  private both(): Holds {
    const first = this.negated()
    if (!this.take('AND')) return first
    const second = this.both()
    return (item, values) => first(item, values) && second(item, values)
  }

  private negated(): Holds {
    if (this.take('NOT')) {
      this.parts.push({ kind: 'NOT', operands: [] })
      const negated = this.negated()
      return (item, values) => !negated(item, values)
    }
    if (!this.take('(')) return this.test()
    const inner = this.closed(this.either())
    if (inner === this.lastGroup) throw validationError('The expression has redundant parentheses;')
    this.lastGroup = inner
    return inner
  }

  private test(): Holds {
    for (const kind of ['attribute_exists', 'attribute_not_exists'] as const) {
      if (this.call(kind)) return this.checked(kind, [this.closed(this.attribute())])
    }
    if (this.call('contains')) return this.checked('contains', this.closed(this.pair(',')))
    const left = this.operand()
    const comparator = COMPARATORS.find((sign) => this.take(sign))
    if (comparator) return this.checked(comparator, [left, this.operand()])
    if (this.take('BETWEEN')) {
      const [low, high] = this.pair('AND')
      if (low.token && high.token) this.bounds.push([low.token, high.token])
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

  private checked(kind: Kind, operands: Operand[]): Holds {
    this.allow(kind, ...operands)
    refuseSame(operands)
    this.parts.push({ kind, operands })
    const test: (...found: Found[]) => boolean = TESTS[kind]
    return (item, values) => test(...operands.map(({ read }) => read(item, values)))
  }

  /** A value's type is known when the command comes. */
  private allow(operator: string, ...operands: Operand[]): void {
    const types = TYPES[operator]
    if (!types) return
    for (const { token, type } of operands) {
      if (token) this.typeRules.push({ token, types, operator })
      if (type && !types.includes(type)) throw wrongType(operator, type)
    }
  }

  private operand(): Operand {
    if (!this.call('size')) return this.nameOrValue()
    const of = this.closed(this.nameOrValue())
    this.allow('size', of)
    return { read: (item, values) => sizeOf(of.read(item, values)), type: 'N', ...(of.name && { name: of.name }) }
  }

  private change(section: Section): Change {
    const name = this.name()
    if (section === 'REMOVE') return { section, name, value: () => undefined }
    if (section === 'SET') {
      this.expect('=')
      return { section, name, value: this.result() }
    }
    const { read, token } = this.nameOrValue()
    if (!token) throw this.syntaxError()
    this.allow(section, { read, token })
    const combined = COMBINED[section]
    return { section, name, value: (item, values) => combined(attribute(item, name), read(item, values) as Value) }
  }

  private result(): Read {
    const left = this.term()
    const kind = (['+', '-'] as const).find((sign) => this.take(sign))
    if (!kind) return left.read
    const right = this.term()
    this.allow(kind, left, right)
    return (item, values) => sum(left.read(item, values), right.read(item, values), kind === '+' ? 1 : -1)
  }

  private term(): Operand {
    if (!this.call('if_not_exists')) return required(this.nameOrValue())
    const first = this.attribute()
    this.expect(',')
    const otherwise = this.closed(this.term())
    refuseSame([first, otherwise])
    const read: Read = (item, values) => {
      // Always read, and first: an attribute that does not exist is an error even if its value is not needed.
      const other = otherwise.read(item, values)
      return first.read(item, values) ?? other
    }
    return { read }
  }

  private nameOrValue(): Operand {
    const token = this.tokens[this.at] ?? ''
    if (token === '(') throw unsupported('operands in parentheses')
    if (this.tokens[this.at + 1] === '(') throw unsupported(`the function ${token} here`)
    if (!token.startsWith(':')) return this.attribute()
    this.at += 1
    this.usedValues.add(token)
    return { read: (_, values) => values[token], token }
  }

  private attribute(): Operand {
    const name = this.name()
    return { read: (item) => attribute(item, name), name }
  }

  private name(): string {
    const token = this.tokens[this.at] ?? ''
    if (!NAME.test(token)) throw this.syntaxError()
    if (isReserved(token)) throw validationError(`Attribute name is a reserved keyword; reserved keyword: ${token}`)
    this.at += 1
    if (/^[.[]$/.test(this.tokens[this.at] ?? '')) throw unsupported('paths into maps and lists')
    const name = token.startsWith('#') ? this.names[token] : token
    if (typeof name !== 'string')
      throw validationError(`An expression attribute name is not defined; attribute name: ${token}`)
    if (token.startsWith('#')) this.usedNames.add(token)
    return name
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
  return validationError(`Incorrect operand type for operator or function: ${operator}, operand type: ${type}`)
}

function distinct<T>(all: T[], nameOf: (one: T) => string): T[] {
  if (new Set(all.map(nameOf)).size === all.length) return all
  throw validationError('Two document paths overlap with each other')
}

function refuseSame([first, ...others]: readonly Operand[]): void {
  if (first?.name && !first.type && others.some(({ name, type }) => name === first.name && !type)) {
    throw validationError('The first operand must be distinct from the remaining operands')
  }
}

function required({ read, ...operand }: Operand): Operand {
  const readThere: Read = (item, values) => {
    const found = read(item, values)
    if (found) return found
    throw validationError('The provided expression refers to an attribute that does not exist in the item')
  }
  return { ...operand, read: readThere }
}
