import type { Random } from '../../simulation/random.ts'

/** Few, so that they meet; `pk` is a key. */
const ATTRIBUTES = ['aa', 'aa', 'bb', 'bb', 'cc', 'dd', 'ee', 'll', 'ss', 'zz']
/** Attributes that are mostly sets, or not there. */
const SETS = ['ss', 'tt', 'uu']
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

/** Expressions of one command, with their names and values; right for the most part. */
export class RandomExpressions {
  private readonly random: Random
  private readonly names: Record<string, string> = {}
  private readonly values: Record<string, unknown> = {}
  private serial = 0

  constructor(random: Random) {
    this.random = random
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
    const sets = Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, () => `${this.attribute()} = ${this.result()}`)
    const removes = Array.from({ length: random.below(sets.length > 0 ? 2 : 4) }, () => this.attribute())
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
      const changes = sets.splice(0, random.pick([1, 1, 1, 2])).map((name) => this.change(section, name))
      return `${section} ${changes.join(', ')}`
    })
  }

  private change(section: string, name: string): string {
    const { random } = this
    if (random.chance(0.05)) return `${this.attribute()} ${this.value(randomValue(random))}`
    if (random.chance(0.02)) return `${this.attribute()} ${this.attribute()}`
    if (section === 'ADD' && random.chance(0.2)) return `${this.name('aa')} ${this.value(randomNumber(random))}`
    return `${random.chance(0.95) ? this.name(name) : this.attribute()} ${this.value(randomSet(random))}`
  }

  projection(): string {
    return this.spoilt(Array.from({ length: 1 + this.random.below(3) }, () => this.attribute()).join(', '))
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
    const ordered = () => `${this.attribute()} ${random.pick(COMPARATORS)} ${this.ordered()}`
    const beginning = () => (random.chance(0.95) ? this.value(random.pick(TEXTS)) : this.operand())
    const options = () => Array.from({ length: 1 + random.below(3) }, () => this.operand()).join(', ')
    const kinds = [
      () => `attribute_exists(${this.attribute()})`,
      () => `attribute_not_exists (${this.attribute()})`,
      () => `begins_with(${this.attribute()}, ${beginning()})`,
      () => this.between(),
      () => `${this.operand()} IN (${options()})`,
      () => `${this.operand()} ${random.pick(['=', '<>'])} ${this.operand()}`,
      () => this.containing(),
      () => `${this.size()} ${random.pick(COMPARATORS)} ${this.value(random.below(4))}`,
      ...[ordered, ordered],
    ]
    return random.pick(kinds)()
  }

  private containing(): string {
    const { random } = this
    if (random.chance(0.5)) return `contains(${this.set()}, ${this.value(randomBytes(random))})`
    const simple = random.pick([randomText, randomNumber, randomBytes])(random)
    const of = random.pick([() => this.name('bb'), () => this.attribute(), () => this.operand()])()
    return `contains(${of}, ${random.chance(0.7) ? this.value(simple) : this.operand()})`
  }

  private size(): string {
    const { random } = this
    if (random.chance(0.6)) return `size(${random.chance(0.5) ? this.set() : this.attribute()})`
    return `size(${this.value(random.pick([randomText, randomSet, randomSet, randomValue])(random))})`
  }

  private between(): string {
    const { random } = this
    const low = random.chance(0.8) ? this.value(random.pick([-2, -1, 0, 1])) : this.ordered()
    const high = random.chance(0.8) ? this.value(random.pick([1, 2, 3, 2n ** 60n])) : this.ordered()
    return `${random.chance(0.9) ? this.attribute() : this.ordered()} BETWEEN ${low} AND ${high}`
  }

  /** Mostly something that has an order. */
  private ordered(): string {
    const { random } = this
    if (random.chance(0.05)) return this.operand()
    if (random.chance(0.2)) return random.chance(0.5) ? this.attribute() : `size(${this.attribute()})`
    return this.value(random.chance(0.7) ? randomNumber(random) : random.pick(TEXTS))
  }

  private operand(): string {
    const { random } = this
    if (random.chance(0.5)) return this.attribute()
    if (random.chance(0.2)) return this.size()
    return this.value(randomValue(random))
  }

  private result(): string {
    const { random } = this
    if (random.chance(0.5)) return this.value(randomValue(random))
    if (random.chance(0.3)) return this.term()
    return `${this.term()} ${random.pick(['+', '-'])} ${random.chance(0.6) ? this.value(randomNumber(random)) : this.term()}`
  }

  private term(): string {
    const { random } = this
    if (random.chance(0.5)) return random.chance(0.85) ? this.name('aa') : this.attribute()
    const otherwise = random.chance(0.8) ? this.value(randomNumber(random)) : this.attribute()
    return `if_not_exists(${random.chance(0.6) ? this.name(random.pick(['aa', 'zz'])) : this.attribute()}, ${otherwise})`
  }

  private attribute(): string {
    const { random } = this
    if (random.chance(0.005)) return 'name'
    return this.name(random.chance(0.01) ? 'pk' : random.pick(ATTRIBUTES))
  }

  private set(): string {
    return this.name(this.random.pick(SETS))
  }

  private next(): number {
    this.serial += 1
    return this.serial
  }
}
