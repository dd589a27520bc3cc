import { compileCondition, pathsIn, type Test } from './condition.ts'
import { type Check, type Context, checkOverlap } from './context.ts'
import { type Condition, type Path, Vocabulary } from './expression.ts'
import { validationError } from './failures.ts'
import { parseCondition, parseProjection, parseUpdate } from './parse-expression.ts'
import { type CompiledUpdate, compileUpdate } from './update.ts'
import type { Value } from './value.ts'

/** The expressions of one command. A filter is a condition, too. */
export type Expressions = {
  readonly condition?: string | undefined
  readonly update?: string | undefined
  readonly projection?: string | undefined
  readonly keyCondition?: string | undefined
}

export type Placeholders = {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined
  readonly ExpressionAttributeValues?: Readonly<Record<string, Value>> | undefined
}

export type Program = {
  readonly vocabulary: Vocabulary
  readonly checks: readonly Check[]
  readonly condition?: Test
  readonly conditionPaths: readonly Path[]
  readonly update?: CompiledUpdate
  readonly projection?: readonly Path[]
  readonly keyCondition?: Condition
}

type Cache = Map<string | undefined, Cache | Program>

const MOST_PROGRAMS = 5_000
const compiled: Cache = new Map()
let programs = 0

/** Compiled once for each distinct set of expressions; only the texts decide, names and values come with each use. */
export function programFor(expressions: Expressions): Program {
  const byProjection = branch(branch(compiled, expressions.update), expressions.projection)
  const byCondition = branch(byProjection, expressions.keyCondition)
  const known = byCondition.get(expressions.condition) as Program | undefined
  if (known) return known
  const program = compile(expressions)
  programs += 1
  if (programs > MOST_PROGRAMS) {
    compiled.clear()
    programs = 0
  }
  byCondition.set(expressions.condition, program)
  return program
}

function branch(cache: Cache, text: string | undefined): Cache {
  const known = cache.get(text) as Cache | undefined
  if (known) return known
  const fresh: Cache = new Map()
  cache.set(text, fresh)
  return fresh
}

function compile({ condition, update, projection, keyCondition }: Expressions): Program {
  const vocabulary = new Vocabulary()
  const parsed = condition === undefined ? undefined : parseCondition(condition, vocabulary)
  const compiledCondition = parsed && compileCondition(parsed)
  const paths = projection === undefined ? undefined : parseProjection(projection, vocabulary)
  const keys = keyCondition === undefined ? undefined : parseCondition(keyCondition, vocabulary)
  const updated = update === undefined ? undefined : parseUpdate(update, vocabulary)
  const compiledUpdate = updated && compileUpdate(updated, vocabulary.names)
  return {
    vocabulary,
    conditionPaths: parsed ? pathsIn(parsed) : [],
    checks: [
      ...(compiledCondition?.checks ?? []),
      ...(paths ? checkOverlap(paths, vocabulary.names) : []),
      ...(keys ? compileCondition(keys).checks : []),
      ...(compiledUpdate?.checks ?? []),
    ],
    ...(compiledCondition && { condition: compiledCondition.test }),
    ...(paths && { projection: paths }),
    ...(keys && { keyCondition: keys }),
    ...(compiledUpdate && { update: compiledUpdate }),
  }
}

const NOTHING = {}

/** Puts a command's names and values at their indexes and refuses those that are missing, unused or of the wrong type. */
export function bind(program: Program, placeholders: Placeholders): Context {
  const { vocabulary, checks } = program
  const context: Context = {
    item: NOTHING,
    names: bindNames(vocabulary.names, placeholders.ExpressionAttributeNames),
    values: bindValues(vocabulary.values, placeholders.ExpressionAttributeValues),
  }
  for (const check of checks) check(context)
  return context
}

function bindNames(tokens: readonly string[], given: Record<string, string> | undefined): readonly string[] {
  let used = 0
  const names = tokens.map((token) => {
    if (token.charCodeAt(0) !== 35) return token
    const name = given?.[token]
    if (name === undefined)
      throw validationError(`An expression attribute name is not defined; attribute name: ${token}`)
    used += 1
    return name
  })
  checkAllUsed('ExpressionAttributeNames', given, used)
  return names
}

function bindValues(tokens: readonly string[], given: Readonly<Record<string, Value>> | undefined): readonly Value[] {
  const values = tokens.map((token) => {
    const value = given?.[token]
    if (value === undefined) throw validationError(`An expression attribute value is not defined: ${token}`)
    return value
  })
  checkAllUsed('ExpressionAttributeValues', given, values.length)
  return values
}

function checkAllUsed(member: string, given: Readonly<Record<string, unknown>> | undefined, used: number): void {
  if (given === undefined) return
  let count = 0
  for (const token in given) if (given[token] !== undefined) count += 1
  if (count === 0) throw validationError(`${member} must not be empty`)
  if (count > used) throw validationError(`Value provided in ${member} unused in expressions`)
}
