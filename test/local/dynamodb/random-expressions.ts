import type { Random } from '../../simulation/random.ts'

const HUGE = 10n ** 38n - 1n

export const TEXTS = ['', 'a', 'ab', 'b', 'é', '\u{1F600}', '\uffee', 'A']
const NUMBERS = [-3, -1, 0, 1, 2, 3, 5, 9, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 60n), 10n ** 20n, HUGE]

export function randomNumber(random: Random): number | bigint {
  return random.chance(0.7) ? random.below(6) - 1 : random.pick(NUMBERS)
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
  if (random.chance(0.7))
    attributes.bb = random.chance(0.6) ? random.pick(TEXTS) : random.pick([randomBytes, randomValue])(random)
  if (random.chance(0.7)) attributes.cc = randomMap(random, 2)
  if (random.chance(0.7)) attributes.dd = randomValue(random)
  if (random.chance(0.7)) attributes.ss = random.chance(0.9) ? randomSet(random) : randomValue(random)
  if (random.chance(0.3)) attributes.tt = randomSet(random)
  if (random.chance(0.4)) attributes.ll = [randomValue(random), undefined, randomNumber(random)]
  return attributes
}

/** Attributes, few, so that they meet: any of them, and those that are mostly sets or not there. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  name: ['aa', 'aa', 'bb', 'bb', 'cc', 'dd', 'ee', 'll', 'ss', 'zz'],
  set: ['ss', 'tt', 'uu'],
}

const VALUES: Readonly<Record<string, (random: Random) => unknown>> = {
  any: randomValue,
  number: randomNumber,
  text: (random) => random.pick(TEXTS),
  bytes: randomBytes,
  elements: randomSet,
  count: (random) => random.below(4),
  low: (random) => random.pick([-2, -1, 0, 1]),
  high: (random) => random.pick([1, 2, 3, 2n ** 60n]),
}

/** The texts that each word may stand for; one that is there twice is taken twice as often. */
const GRAMMAR: Readonly<Record<string, readonly string[]>> = {
  condition: [
    ...['{test}', '{test}', '{test} AND {test}', '{test} OR {condition}', 'NOT {test}'],
    ...['({condition}) AND {test}', '{test} or ({test} AND {condition})', 'not ({test} OR {test})'],
  ],
  test: [
    ...['attribute_exists({name})', 'attribute_not_exists ({name})'],
    ...['{name} BETWEEN {low} AND {high}', '{ordered} BETWEEN {ordered} AND {ordered}'],
    ...['{operand} IN ({operand})', '{operand} IN ({operand}, {any}, {operand})'],
    ...['{operand} = {operand}', '{operand} <> {operand}', '{size} {comparator} {count}'],
    ...[
      'contains({set}, {bytes})',
      'contains(bb, {text})',
      'contains({text}, {text})',
      'contains({operand}, {operand})',
    ],
    ...['{name} {comparator} {ordered}', '{name} {comparator} {ordered}', '{name} {comparator} {number}'],
  ],
  comparator: ['=', '<>', '<', '<=', '>', '>='],
  size: ['size({name})', 'size({set})', 'size({elements})', 'size({text})', 'size({any})'],
  ordered: ['{number}', '{number}', '{number}', '{text}', '{text}', '{name}', 'size({name})'],
  operand: ['{name}', '{name}', '{any}', '{any}', '{size}'],
  update: [
    ...['SET {change}', 'SET {change}', 'set {change}, {change}', 'SET {change}, {change}, {change}'],
    ...['REMOVE {name}', 'REMOVE {name},{name}', 'SET {change} REMOVE {name}', 'REMOVE {name} SET {change}'],
    ...['ADD {set} {elements}', 'DELETE {set} {elements}', 'delete {set} {elements}, {set} {elements}'],
    ...[
      'ADD aa {number}',
      'ADD aa {number}, {set} {elements} SET {change}',
      'add {set} {elements} DELETE {set} {elements}',
    ],
    ...['ADD {name} {any}', 'DELETE {name} {name}'],
  ],
  change: ['{name} = {result}'],
  result: ['{any}', '{any}', '{term}', '{term} + {number}', '{term} - {number}', '{term} - {term}'],
  term: [
    'aa',
    'aa',
    '{name}',
    'if_not_exists(aa, {number})',
    'if_not_exists({name}, {number})',
    'if_not_exists({name}, {name})',
  ],
  projection: ['{name}', '{name}, {name}', '{name}, {set}, {name}'],
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

  /** Now and then spoilt. */
  expression(kind: 'condition' | 'update' | 'projection'): string {
    const { random } = this
    const text = this.written(kind)
    if (random.chance(0.98)) return text
    const cut = text.slice(0, random.below(text.length))
    return random.pick([cut, `${text} ${text}`, `(${text})`, `((${text}))`, `${text} #undefined`])
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

  private written(word: string): string {
    const { random } = this
    const value = VALUES[word]
    if (value) return this.value(value(random))
    const names = NAMES[word]
    if (!names) return random.pick(GRAMMAR[word] ?? []).replaceAll(/\{(\w+)\}/g, (_, inner) => this.written(inner))
    if (random.chance(0.005)) return 'name'
    return this.name(random.chance(0.01) ? 'pk' : random.pick(names))
  }

  private next(): number {
    this.serial += 1
    return this.serial
  }
}
