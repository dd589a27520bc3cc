import type { Item } from '../layers/gateway/store/keys/key-item.ts'

/** As UpdateItem takes it. */
export type Update = {
  readonly UpdateExpression: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>
}

/**
 * Does an update expression to an item and returns a copy of it as it is then. Of DynamoDB's language it knows what the
 * gateway says: `SET` with sums, differences and if_not_exists, and `REMOVE`, of attributes and of members of maps.
 */
export function applyUpdate(item: Item, update: Update): Item {
  const { set, remove } = parse(update.UpdateExpression)
  // All right sides are of the item as it was.
  const values = set.map(({ terms }) => sumOf(terms, item, update))
  for (const [i, { path }] of set.entries()) place(item, path, update)(values[i])
  for (const path of remove) place(item, path, update)(undefined)
  return copyOf(item)
}

type Term = { readonly sign: 1 | -1; readonly text: string }
type Parsed = { readonly set: { readonly path: string; readonly terms: Term[] }[]; readonly remove: string[] }

/** The gateway has few expressions and says them again and again. */
const parsed = new Map<string, Parsed>()

function parse(expression: string): Parsed {
  const known = parsed.get(expression)
  if (known) return known
  const [, set = '', remove = ''] = /^(?:SET (.+?))?(?: ?REMOVE (.+))?$/.exec(expression) ?? []
  const result = { set: listOf(set).map(parseSet), remove: listOf(remove) }
  parsed.set(expression, result)
  return result
}

function parseSet(clause: string): Parsed['set'][number] {
  const [path = '', sum = ''] = clause.split(' = ')
  const terms = sum.split(/ (?=[+-] )/).map((text): Term => {
    const [, sign, bare = ''] = /^([+-] )?(.*)$/.exec(text) ?? []
    return { sign: sign === '- ' ? -1 : 1, text: bare }
  })
  return { path, terms }
}

/** Split at commas that are not inside brackets. */
function listOf(clauses: string): string[] {
  return clauses === '' ? [] : clauses.split(/, (?![^(]*\))/)
}

function sumOf([first, ...rest]: Term[], item: Item, update: Update): unknown {
  const value = operandOf(first?.text ?? '', item, update)
  if (rest.length === 0) return value
  // Amounts are bigint, counts are numbers, and neither is mixed with the other.
  return rest.reduce((sum, { sign, text }) => {
    const term = operandOf(text, item, update) as number
    return sign === 1 ? sum + term : sum - term
  }, value as number)
}

function operandOf(text: string, item: Item, update: Update): unknown {
  const [, path, otherwise] = /^if_not_exists\((.+), (.+)\)$/.exec(text) ?? []
  if (path && otherwise) return read(item, path, update) ?? operandOf(otherwise, item, update)
  return text.startsWith(':') ? update.ExpressionAttributeValues?.[text] : read(item, text, update)
}

function read(item: Item, path: string, update: Update): unknown {
  return namesIn(path, update).reduce<unknown>((at, name) => (at as Item | undefined)?.[name], item)
}

function place(item: Item, path: string, update: Update): (value: unknown) => void {
  const names = namesIn(path, update)
  const last = names.pop() ?? ''
  const parent = names.reduce<Item>((at, name) => at[name] as Item, item)
  return (value) => {
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
}

function namesIn(path: string, { ExpressionAttributeNames: names }: Update): string[] {
  return path.split('.').map((name) => names?.[name] ?? name)
}

/** As an answer is: a caller's copy does not change when the item does. */
function copyOf(item: Item): Item {
  const copy: Item = { ...item }
  for (const name in copy) {
    const value = copy[name]
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) copy[name] = { ...value }
  }
  return copy
}
