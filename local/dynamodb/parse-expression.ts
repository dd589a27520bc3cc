import type { Assignment, Change, Comparator, Condition, Operand, Path, Update, Vocabulary } from './expression.ts'
import { listStep } from './expression.ts'
import { tokensOf } from './expression-tokens.ts'
import { unsupported, validationError } from './failures.ts'
import { isReserved } from './reserved-words.ts'

const NAME = /^[A-Za-z_#]/
const COMPARATORS = new Set<string>(['=', '<>', '<', '<=', '>', '>='])

export function parseCondition(text: string, vocabulary: Vocabulary): Condition {
  const parser = new Parser(text, vocabulary)
  const condition = parser.either()
  parser.end()
  return condition
}

export function parseUpdate(text: string, vocabulary: Vocabulary): Update {
  const parser = new Parser(text, vocabulary)
  const update: Partial<Update> = {}
  do {
    const section = parser.section()
    if (Object.keys(section).some((name) => name in update)) throw validationError('A section can only be used once')
    Object.assign(update, section)
  } while (!parser.atEnd())
  return { sets: [], removes: [], adds: [], deletes: [], ...update }
}

export function parseProjection(text: string, vocabulary: Vocabulary): Path[] {
  const parser = new Parser(text, vocabulary)
  const paths = parser.list(() => parser.path())
  parser.end()
  return paths
}

class Parser {
  private readonly tokens: string[]
  private readonly vocabulary: Vocabulary
  private at = 0
  private lastGroup: Condition | undefined

  constructor(text: string, vocabulary: Vocabulary) {
    this.tokens = tokensOf(text)
    this.vocabulary = vocabulary
  }

  atEnd(): boolean {
    return this.at >= this.tokens.length
  }

  end(): void {
    if (!this.atEnd()) throw this.syntaxError()
  }

  keyword(word: string): boolean {
    return this.tokens[this.at]?.toUpperCase() === word && this.advance()
  }

  list<T>(member: () => T): T[] {
    const members = [member()]
    while (this.symbol(',')) members.push(member())
    return members
  }

  either(): Condition {
    let left = this.both()
    while (this.keyword('OR')) left = { kind: 'or', left, right: this.both() }
    return left
  }

  private assignment(): Assignment {
    const path = this.path()
    this.expect('=')
    return { path, value: this.result() }
  }

  private change(): Change {
    const path = this.path()
    const value = this.pathOrValue()
    if (value.kind !== 'value') throw this.syntaxError()
    return { path, value }
  }

  path(): Path {
    const path = [this.pathName()]
    for (;;) {
      if (this.symbol('.')) path.push(this.pathName())
      else if (this.symbol('[')) path.push(this.placeInList())
      else return path
    }
  }

  private placeInList(): number {
    const token = this.tokens[this.at] ?? ''
    if (!/^\d{1,9}$/.test(token)) throw this.syntaxError()
    this.advance()
    this.expect(']')
    return listStep(Number(token))
  }

  section(): Partial<Update> {
    if (this.keyword('SET')) return { sets: this.list(() => this.assignment()) }
    if (this.keyword('REMOVE')) return { removes: this.list(() => this.path()) }
    if (this.keyword('ADD')) return { adds: this.list(() => this.change()) }
    if (this.keyword('DELETE')) return { deletes: this.list(() => this.change()) }
    throw this.syntaxError()
  }

  private both(): Condition {
    let left = this.negated()
    while (this.keyword('AND')) left = { kind: 'and', left, right: this.negated() }
    return left
  }

  private negated(): Condition {
    return this.keyword('NOT') ? { kind: 'not', of: this.negated() } : this.simple()
  }

  private simple(): Condition {
    if (this.symbol('(')) return this.group()
    if (this.call('attribute_exists')) return { kind: 'exists', path: this.onlyPath(), expected: true }
    if (this.call('attribute_not_exists')) return { kind: 'exists', path: this.onlyPath(), expected: false }
    if (this.call('begins_with')) return this.partOf('beginsWith')
    if (this.call('contains')) return this.partOf('contains')
    if (this.call('attribute_type')) return this.partOf('type')
    const left = this.operand()
    const comparator = this.tokens[this.at]
    if (comparator && COMPARATORS.has(comparator)) {
      this.advance()
      return { kind: 'compare', comparator: comparator as Comparator, left, right: this.operand() }
    }
    if (this.keyword('BETWEEN')) return this.between(left)
    if (this.keyword('IN')) return this.oneOf(left)
    throw this.syntaxError()
  }

  private group(): Condition {
    const inner = this.either()
    this.expect(')')
    if (inner === this.lastGroup) throw validationError('The expression has redundant parentheses;')
    this.lastGroup = inner
    return inner
  }

  private partOf(kind: 'beginsWith' | 'contains' | 'type'): Condition {
    const of = this.operand()
    this.expect(',')
    const part = this.operand()
    this.expect(')')
    return { kind, of, part }
  }

  private between(of: Operand): Condition {
    const low = this.operand()
    if (!this.keyword('AND')) throw this.syntaxError()
    return { kind: 'between', of, low, high: this.operand() }
  }

  private oneOf(of: Operand): Condition {
    this.expect('(')
    const options = this.list(() => this.operand())
    this.expect(')')
    return { kind: 'in', of, options }
  }

  private operand(): Operand {
    if (!this.call('size')) return this.pathOrValue()
    const of = this.pathOrValue()
    this.expect(')')
    return { kind: 'size', of }
  }

  /** The right side of an assignment. */
  private result(): Operand {
    const left = this.term()
    if (this.symbol('+')) return { kind: 'sum', left, right: this.term() }
    if (this.symbol('-')) return { kind: 'difference', left, right: this.term() }
    return left
  }

  private term(): Operand {
    if (this.call('list_append')) return this.append()
    if (!this.call('if_not_exists')) return this.pathOrValue()
    const path = this.path()
    this.expect(',')
    const otherwise = this.term()
    this.expect(')')
    return { kind: 'ifNotExists', path, otherwise }
  }

  private append(): Operand {
    const left = this.term()
    this.expect(',')
    const right = this.term()
    this.expect(')')
    return { kind: 'append', left, right }
  }

  private pathOrValue(): Operand {
    const token = this.tokens[this.at]
    if (token?.startsWith(':')) {
      this.advance()
      return { kind: 'value', value: this.vocabulary.value(token) }
    }
    if (token === '(') throw unsupported('operands in parentheses')
    return { kind: 'path', path: this.path() }
  }

  private onlyPath(): Path {
    const path = this.path()
    this.expect(')')
    return path
  }

  private pathName(): number {
    const token = this.tokens[this.at]
    if (!token || !NAME.test(token)) throw this.syntaxError()
    if (isReserved(token)) {
      throw validationError(`Attribute name is a reserved keyword; reserved keyword: ${token}`)
    }
    this.advance()
    return this.vocabulary.name(token)
  }

  private call(name: string): boolean {
    if (this.tokens[this.at] !== name || this.tokens[this.at + 1] !== '(') return false
    this.at += 2
    return true
  }

  private symbol(token: string): boolean {
    return this.tokens[this.at] === token && this.advance()
  }

  private expect(token: string): void {
    if (!this.symbol(token)) throw this.syntaxError()
  }

  private advance(): true {
    this.at += 1
    return true
  }

  private syntaxError() {
    return validationError(`Syntax error; token: "${this.tokens[this.at] ?? '<EOF>'}"`)
  }
}
