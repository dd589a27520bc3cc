import { validationError } from './failures.ts'
import type { Input } from './members.ts'
import { ExpressionParser, type Values, wrongType } from './parse-expression.ts'
import { compare, typeOf, type Value, valueIn } from './values.ts'

type Names = Input['ExpressionAttributeNames']
type Program = ReturnType<typeof parse>
export type Bound = Program & { readonly values: Values }

const programs = new Map<string, Program>()

/** Parsed once for each distinct set of expressions and names; values come with each use. */
function programFor(input: Input): Program {
  const { ExpressionAttributeNames: names, UpdateExpression, ProjectionExpression, KeyConditionExpression } = input
  // No command has both.
  const condition = input.ConditionExpression ?? input.FilterExpression
  const texts = [condition, UpdateExpression, ProjectionExpression, KeyConditionExpression] as const
  const key = JSON.stringify([...texts, names])
  const known = programs.get(key)
  if (known) return known
  const program = parse(texts, names)
  if (programs.size >= 5_000) programs.clear()
  programs.set(key, program)
  return program
}

function parse([condition, update, projection, keyCondition]: readonly (string | undefined)[], names: Names) {
  const parser = new ExpressionParser(names ?? {})
  const program = {
    condition: condition === undefined ? undefined : parser.condition(condition),
    update: update === undefined ? undefined : parser.update(update),
    projection: projection === undefined ? undefined : parser.projection(projection),
    keyCondition: keyCondition === undefined ? undefined : parser.condition(keyCondition),
    parser,
  }
  checkAllUsed('ExpressionAttributeNames', names, parser.usedNames)
  return program
}

/** Refuses expressions that are wrong, and values that are missing, unused or of the wrong type. */
export function bind(input: Input): Bound {
  const { ExpressionAttributeValues: given } = input
  const program = programFor(input)
  const { parser } = program
  const values: Record<string, Value> = {}
  for (const token of parser.usedValues) {
    const value = given?.[token]
    if (value === undefined) throw validationError(`An expression attribute value is not defined: ${token}`)
    values[token] = valueIn(value)
  }
  checkAllUsed('ExpressionAttributeValues', given, parser.usedValues)
  for (const { token, types, operator } of parser.typeRules) {
    const type = typeOf(values[token] as Value)
    if (!types.includes(type)) throw wrongType(operator, type)
  }
  // No order holds between values of two types.
  if (!parser.bounds.every(([low, high]) => compare(values[low], values[high]) <= 0)) {
    throw validationError('The BETWEEN operator requires bounds of one type, and the lower one first')
  }
  return { ...program, values }
}

function checkAllUsed(member: string, given: object | undefined, used: ReadonlySet<string>): void {
  if (given === undefined) return
  const count = Object.keys(given).length
  if (count === 0 || count > used.size) throw validationError(`Value provided in ${member} unused in expressions`)
}
