import type { Random } from '../../simulation/random.ts'

/** Few, so that they meet; `pk` is a key. */
const ATTRIBUTES = ['aa', 'aa', 'bb', 'bb', 'cc', 'dd', 'ee', 'll', 'ss', 'zz']
const PATHS = 'cc.xx cc.xx cc.zz cc.yy cc.yy.zz cc.nope.xx aa.xx dd.xx ll.xx ss.xx'
  .split(' ')
  .map((path) => path.split('.'))
/** Paths that mostly lead to a set, or to nothing. */
const SETS = [['ss'], ['tt'], ['cc', 'ss']]
const COMPARATORS = ['=', '<>', '<', '<=', '>', '>=']
const HUGE = 10n ** 38n - 1n

export const TEXTS = ['', 'a', 'ab', 'b', 'é', '\u{1F600}', '\uffee', 'A']
const NUMBERS = [-3, -1, 0, 1, 2, 3, 5, 9, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 60n), 10n ** 20n, HUGE]

export function randomNumber(random: Random): number | bigint {
  return random.chance(0.7) ? random.below(6) - 1 : random.pick(NUMBERS)
}

function randomText(random: Random): string {
  return random.pick(TEXTS)
}

/** Texts of few bytes, so that those of several values meet. */
function randomBytes(random: Random): Uint8Array {
  return random.bytes(random.below(3)).map((byte) => byte % 3)
}

/** Now and then with the same element twice. */
function randomSet(random: Random): Set<Uint8Array> {
  const elements = Array.from({ length: 1 + random.below(4) }, () => randomBytes(random))
  if (random.chance(0.02)) return new Set(elements)
  return new Set(new Map(elements.map((element) => [element.join(), element])).values())
}

export function randomValue(random: Random, depth = 2): unknown {
  const kind = random.below(depth > 0 ? 11 : 8)
  if (kind < 3) return randomNumber(random)
  if (kind < 5) return random.pick(TEXTS)
  if (kind === 5) return random.pick([true, false, null])
  if (kind === 6) return randomBytes(random)
  if (kind === 7) return randomSet(random)
  if (kind === 8) return Array.from({ length: random.below(3) }, () => randomValue(random, depth - 1))
  return randomMap(random, depth - 1)
}

function randomMap(random: Random, depth: number): Record<string, unknown> {
  const names = ['xx', 'yy', 'zz'].filter(() => random.chance(0.6))
  return Object.fromEntries(names.map((name) => [name, random.chance(0.05) ? undefined : randomValue(random, depth)]))
}

export function randomAttributes(random: Random): Record<string, unknown> {
  const attributes: Record<string, unknown> = {}
  if (random.chance(0.8)) attributes.aa = randomNumber(random)
  if (random.chance(0.7)) attributes.bb = random.pick([randomText, randomText, randomBytes, randomValue])(random)
  if (random.chance(0.7)) attributes.cc = randomMap(random, 2)
  if (random.chance(0.7)) attributes.dd = randomValue(random)
  if (random.chance(0.7)) attributes.ss = random.chance(0.9) ? randomSet(random) : randomValue(random)
  if (random.chance(0.3)) attributes.tt = randomSet(random)
  if (random.chance(0.4)) attributes.ll = [randomValue(random), undefined, randomNumber(random)]
  return attributes
}

const DECIMALS = [0.5, -0.25, 1.5, 2.75, 0.1, 0.2, 1e-7, 123456.789, -3.25e-20, 1e-130]

/** Values that AWS's SDK sends and the gateway never writes: decimals, sets of texts and numbers, lists of maps. */
export function wideAttributes(random: Random): Record<string, unknown> {
  return {
    ...(random.chance(0.6) && { nn: random.pick([...DECIMALS, 1, -3]) }),
    ...(random.chance(0.6) && { st: textSet(random) }),
    ...(random.chance(0.6) && { ns: numberSet(random) }),
    ...(random.chance(0.7) && { li: Array.from({ length: random.below(4) }, () => listMember(random)) }),
  }
}

function listMember(random: Random): unknown {
  return random.chance(0.5) ? randomMap(random, 1) : random.chance(0.3) ? [1, randomText(random)] : randomValue(random)
}

function textSet(random: Random): Set<string> {
  return new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(['a', 'b', 'c', 'é'])))
}

function numberSet(random: Random): Set<number> {
  return new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick([1, 2, 3, 0.5, 1e-7])))
}

const WIDE_PATHS = 'nn st ns li li[0] li[1] li[2] li[7] li[0].xx li[1].yy li[0][1] cc.xx[0] ll[1]'.split(' ')

/** Expressions of one command, with their names and values; right for the most part. */
export class RandomExpressions {
  private readonly random: Random
  private readonly names: Record<string, string> = {}
  private readonly values: Record<string, unknown> = {}
  private serial = 0
  private readonly isWide: boolean

  constructor(random: Random, isWide = false) {
    this.random = random
    this.isWide = isWide
  }

  /** The members that go with the expressions, now and then spoilt. */
  placeholders(): Record<string, unknown> {
    const { random, names, values } = this
    if (random.chance(0.02)) values[':unused'] = 1
    if (random.chance(0.02)) names['#unused'] = 'aa'
    if (random.chance(0.02)) delete values[random.pick(Object.keys(values))]
    if (random.chance(0.02)) delete names[random.pick(Object.keys(names))]
    return {
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }
  }

  condition(depth = 2): string {
    return this.spoilt(this.either(depth))
  }

  update(): string {
    const { random } = this
    const changes = random.chance(0.35) ? this.changes() : []
    if (changes.length > 0 && random.chance(0.8)) return this.spoilt(changes.join(' '))
    const sets = Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, () => `${this.target()} = ${this.result()}`)
    const removes = Array.from({ length: random.below(sets.length > 0 ? 2 : 4) }, () => this.target())
    const sections = [
      ...changes,
      ...(sets.length > 0 ? [`${random.pick(['SET', 'SET', 'set'])} ${sets.join(', ')}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(',')}`] : []),
    ]
    return this.spoilt((random.chance(0.5) ? sections : sections.reverse()).join(' '))
  }

  /** Sections of ADD and DELETE. */
  private changes(): string[] {
    const { random } = this
    const sections = random.pick([['ADD'], ['ADD'], ['DELETE'], ['DELETE'], ['delete'], ['add', 'DELETE']])
    const sets = [...SETS].sort(() => random.next() - 0.5)
    return sections.map((section) => {
      const changes = sets.splice(0, random.pick([1, 1, 1, 2])).map((path) => this.change(section, path))
      return `${section} ${changes.join(', ')}`
    })
  }

  private change(section: string, path: readonly string[]): string {
    const { random } = this
    if (this.isWide && random.chance(0.3)) return this.wideChange(section)
    if (random.chance(0.05)) return `${this.target()} ${this.value(randomValue(random))}`
    if (random.chance(0.02)) return `${this.target()} ${this.path()}`
    if (section === 'ADD' && random.chance(0.2)) return `${this.name('aa')} ${this.value(randomNumber(random))}`
    return `${random.chance(0.95) ? this.written(path) : this.target()} ${this.value(randomSet(random))}`
  }

  private wideChange(section: string): string {
    const { random } = this
    if (section === 'ADD' && random.chance(0.4)) return `nn ${this.value(random.pick(DECIMALS))}`
    return random.chance(0.5) ? `st ${this.value(textSet(random))}` : `ns ${this.value(numberSet(random))}`
  }

  projection(): string {
    return this.spoilt(Array.from({ length: 1 + this.random.below(3) }, () => this.path()).join(', '))
  }

  name(name: string): string {
    if (this.random.chance(0.6)) return name
    const known = Object.keys(this.names).find((token) => this.names[token] === name)
    if (known && this.random.chance(0.8)) return known
    const token = `#n${this.next()}`
    this.names[token] = name
    return token
  }

  value(value: unknown): string {
    const token = `:v${this.next()}`
    this.values[token] = value
    return token
  }

  private spoilt(text: string): string {
    const { random } = this
    if (random.chance(0.98)) return text
    return random.pick([text.slice(0, random.below(text.length)), `${text} ${text}`, `(${text})`, `${text} #undefined`])
  }

  private either(depth: number): string {
    const { random } = this
    if (depth === 0 || random.chance(0.3)) return this.simple()
    const [left, right] = [this.either(depth - 1), this.either(depth - 1)]
    return random.pick([
      `${left} AND ${right}`,
      `${left} OR ${right}`,
      `(${left}) AND ${right}`,
      `${left} or (${right})`,
      `NOT ${left}`,
      `not (${left} OR ${right})`,
    ])
  }

  private simple(): string {
    const { random } = this
    if (this.isWide && random.chance(0.15)) return this.wideSimple()
    const ordered = () => `${this.path()} ${random.pick(COMPARATORS)} ${this.ordered()}`
    const beginning = () => (random.chance(0.95) ? this.value(random.pick(TEXTS)) : this.operand())
    const options = () => Array.from({ length: 1 + random.below(3) }, () => this.operand()).join(', ')
    const kinds = [
      () => `attribute_exists(${this.path()})`,
      () => `attribute_not_exists (${this.path()})`,
      () => `begins_with(${this.path()}, ${beginning()})`,
      () => this.between(),
      () => `${this.operand()} IN (${options()})`,
      () => `${this.operand()} ${random.pick(['=', '<>'])} ${this.operand()}`,
      () => this.containing(),
      () => `${this.size()} ${random.pick(COMPARATORS)} ${this.value(random.below(4))}`,
      ...[ordered, ordered],
    ]
    return random.pick(kinds)()
  }

  private wideSimple(): string {
    const { random } = this
    if (random.chance(0.3)) return `contains(${random.pick(['st', 'ns'])}, ${this.value(random.pick(['a', 1, 0.5]))})`
    return `nn ${random.pick(COMPARATORS)} ${this.value(random.pick(DECIMALS))}`
  }

  private containing(): string {
    const { random } = this
    if (random.chance(0.5)) return `contains(${this.setPath()}, ${this.value(randomBytes(random))})`
    const simple = random.pick([randomText, randomNumber, randomBytes])(random)
    const of = random.pick([() => this.name('bb'), () => this.path(), () => this.operand()])()
    return `contains(${of}, ${random.chance(0.7) ? this.value(simple) : this.operand()})`
  }

  private size(): string {
    const { random } = this
    if (random.chance(0.6)) return `size(${random.chance(0.5) ? this.setPath() : this.path()})`
    return `size(${this.value(random.pick([randomText, randomSet, randomSet, randomValue])(random))})`
  }

  private between(): string {
    const { random } = this
    const low = random.chance(0.8) ? this.value(random.pick([-2, -1, 0, 1])) : this.ordered()
    const high = random.chance(0.8) ? this.value(random.pick([1, 2, 3, 2n ** 60n])) : this.ordered()
    return `${random.chance(0.9) ? this.path() : this.ordered()} BETWEEN ${low} AND ${high}`
  }

  /** Mostly something that has an order. */
  private ordered(): string {
    const { random } = this
    if (random.chance(0.05)) return this.operand()
    if (random.chance(0.2)) return random.chance(0.5) ? this.path() : `size(${this.path()})`
    return this.value(random.chance(0.7) ? randomNumber(random) : random.pick(TEXTS))
  }

  private operand(): string {
    const { random } = this
    if (random.chance(0.5)) return this.path()
    if (random.chance(0.2)) return this.size()
    return this.value(randomValue(random))
  }

  private result(): string {
    const { random } = this
    if (this.isWide && random.chance(0.2)) return this.wideResult()
    if (random.chance(0.5)) return this.value(randomValue(random))
    if (random.chance(0.3)) return this.term()
    return `${this.term()} ${random.pick(['+', '-'])} ${random.chance(0.6) ? this.value(randomNumber(random)) : this.term()}`
  }

  private wideResult(): string {
    const { random } = this
    return `nn ${random.pick(['+', '-'])} ${this.value(random.pick([...DECIMALS, 1, -3]))}`
  }

  private term(): string {
    const { random } = this
    if (random.chance(0.5)) return random.chance(0.85) ? this.name('aa') : this.path()
    const otherwise = random.chance(0.8) ? this.value(randomNumber(random)) : this.path()
    return `if_not_exists(${random.chance(0.6) ? this.name(random.pick(['aa', 'zz'])) : this.path()}, ${otherwise})`
  }

  private path(): string {
    const { random } = this
    if (!this.isWide || random.chance(0.75)) return this.target()
    return random.chance(0.97) ? random.pick(WIDE_PATHS) : random.pick(['name', 'li[', 'li[a]'])
  }

  /** A path whose value an update may change: our database changes no element of a list. */
  private target(): string {
    const { random } = this
    if (random.chance(0.01)) return this.name('pk')
    const path = random.chance(0.75) ? [random.pick(ATTRIBUTES)] : random.pick(PATHS)
    return this.written(path)
  }

  private setPath(): string {
    return this.written(this.random.pick(SETS))
  }

  private written(path: readonly string[]): string {
    return path.map((name) => this.name(name)).join('.')
  }

  private next(): number {
    this.serial += 1
    return this.serial
  }
}
