import { boolean, type FieldRule, isObject, oneOf, string, type WithSchema, withSchema } from './field-rules.ts'
import type { Reading } from './reading.ts'

/** Builds a value anew from a caller's value: only known parts are copied. Undefined is left out, as null is. */
export type Read = (value: unknown, at: Reading) => unknown
export type Shape = Read & WithSchema

/** In a schema, the special treatment of a field; the document has words for each. */
export type Treatment = 'aliased' | 'leftOut' | 'never' | 'paid' | 'priced'

/** The known fields of an object, each with its shape. */
export type Rows = Readonly<Record<string, Shape>>

/** A plain value that a rule accepts. */
export const value = (rule: FieldRule): Shape =>
  withSchema(rule.schema, (sent: unknown, at: Reading) => {
    if (sent === null) return undefined
    const wanted = rule(sent)
    return wanted === undefined ? sent : at.refuse(wanted, sent)
  })

export const text: Shape = withSchema(string.schema, (sent: unknown, at: Reading) => {
  if (typeof sent === 'string') return sent
  return sent === null ? undefined : at.refuse('a string', sent)
})

export const flag: Shape = withSchema(boolean.schema, (sent: unknown, at: Reading) => {
  if (typeof sent === 'boolean') return sent
  return sent === null ? undefined : at.refuse('true or false', sent)
})

export const word = (...words: readonly string[]): Shape => value(oneOf(...words))

const isScalar = (sent: unknown) => typeof sent === 'string' || typeof sent === 'number' || typeof sent === 'boolean'

export const scalar: Shape = value(
  withSchema({ type: ['string', 'number', 'boolean'] }, (sent: unknown) =>
    isScalar(sent) ? undefined : 'a string, a number, true or false',
  ),
)

/** JSON of the caller's own, such as a schema. Its size is held, and its field names mean nothing to the provider. */
export const json: Shape = withSchema({}, (sent: unknown) => sent ?? undefined)

/** A schema or a tool's input. */
export const jsonObject: Shape = withSchema({ type: 'object' }, (sent: unknown, at: Reading) =>
  sent === null ? undefined : isObject(sent) ? sent : at.refuse('an object', sent),
)

/** A field of an answer that clients send back, or one that no provider may be given. */
export const leftOut: Shape = withSchema(treated('leftOut'), () => undefined)

/** A field that may not be used here, for any route. */
export const never = (why: string): Shape =>
  withSchema({ ...treated('never'), why }, (sent: unknown, at: Reading) => (isEmpty(sent) ? undefined : at.forbid(why)))

function isEmpty(sent: unknown): boolean {
  return sent === null || sent === '' || (Array.isArray(sent) && sent.length === 0)
}

/** A field that costs extra with any value: the operator may allow it, or it is left out. */
export const paid: Shape = withSchema(treated('paid'), (sent: unknown, at: Reading) =>
  sent === null ? undefined : at.paid(),
)

/** A value that has the list price; the operator may allow others, or they are left out. */
export const priced = (rule: FieldRule): Shape =>
  withSchema({ ...rule.schema, ...treated('priced') }, (sent: unknown, at: Reading) => {
    const wanted = sent === null ? undefined : rule(sent)
    return wanted === undefined ? (sent ?? undefined) : at.dear(wanted, sent)
  })

export function treated(treatment: Treatment) {
  return { treatment }
}

export function list(items: Shape, maxItems = Number.POSITIVE_INFINITY): Shape {
  const wanted = maxItems === Number.POSITIVE_INFINITY ? 'an array' : `an array of at most ${maxItems} elements`
  return withSchema({ type: 'array', items, maxItems }, (sent: unknown, at: Reading) => {
    if (sent === null) return undefined
    if (!Array.isArray(sent) || sent.length > maxItems) return at.refuse(wanted, sent)
    const built: unknown[] = []
    for (let i = 0; i < sent.length; i++) {
      at.enter(i)
      if (sent[i] === null) at.refuse('a value', null)
      const element = items(sent[i], at)
      at.leave()
      if (element !== undefined) built.push(element)
    }
    return built
  })
}

/** An object with names of the caller's own, and values of one shape. */
export const record = (shape: Shape, maxProperties: number): Shape =>
  withSchema({ type: 'object', additionalProperties: shape, maxProperties }, (sent: unknown, at: Reading) => {
    if (sent === null) return undefined
    if (!isObject(sent)) return at.refuse('an object', sent)
    if (Object.keys(sent).length > maxProperties) return at.refuse(`an object of at most ${maxProperties} fields`, sent)
    const built: [string, unknown][] = []
    for (const name in sent) {
      at.enter(name)
      built.push([name, shape(sent[name], at)])
      at.leave()
    }
    return Object.fromEntries(built.filter(([, field]) => field !== undefined))
  })

/** An object with these fields and no others. */
export function object(properties: Rows): Shape {
  const known = knownRows(properties)
  return withSchema({ type: 'object', properties }, (sent: unknown, at: Reading) => {
    if (sent === null) return undefined
    return isObject(sent) ? buildFields(sent, known, at) : at.refuse('an object', sent)
  })
}

/** An object whose kind is named by one of its fields. */
export function variants(by: string, kinds: Readonly<Record<string, Rows | Shape>>, otherwise: Read): Shape {
  const shapes = new Map(
    Object.entries(kinds).map(([kind, rows]) => [
      kind,
      typeof rows === 'function' ? rows : object({ [by]: text, ...rows }),
    ]),
  )
  return withSchema({ by, kinds }, (sent: unknown, at: Reading) => {
    if (sent === null) return undefined
    const shape = isObject(sent) ? shapes.get(sent[by] as string) : undefined
    return (shape ?? otherwise)(sent, at)
  })
}

/** Refuses an object of an unknown kind, and names those that are known. */
export const noOther =
  (by: string, kinds: Readonly<Record<string, unknown>>): Read =>
  (sent, at) => {
    if (!isObject(sent)) return at.refuse(`an object with a '${by}'`, sent)
    at.enter(by)
    return at.refuse(Object.keys(kinds), sent[by], sent)
  }

/** A text, of these words if there are any, or a list or an object of another shape. */
export const textOr = (other: Shape, wanted: string, ...words: readonly string[]): Shape =>
  withSchema({ anyOf: [words.length === 0 ? string : oneOf(...words), other] }, (sent: unknown, at: Reading) => {
    if (typeof sent === 'string') return words.length === 0 || words.includes(sent) ? sent : at.refuse(words, sent)
    return typeof sent === 'object' ? other(sent, at) : at.refuse(`a string or ${wanted}`, sent)
  })

export type KnownRows = { readonly shapes: ReadonlyMap<string, Shape>; readonly names: readonly string[] }

export function knownRows(rows: Rows): KnownRows {
  return { shapes: new Map(Object.entries(rows)), names: Object.keys(rows) }
}

/** The known fields of an object, built one by one. The reading is told of all others. */
export function buildFields(
  sent: Readonly<Record<string, unknown>>,
  { shapes, names }: KnownRows,
  at: Reading,
): Record<string, unknown> {
  const built: Record<string, unknown> = {}
  // No field is named `__proto__`: such a body was refused.
  for (const name in sent) {
    const field = sent[name]
    const shape = shapes.get(name)
    if (shape) {
      at.enter(name)
      const made = shape(field, at)
      at.leave()
      if (made !== undefined) built[name] = made
    } else if (field !== null && field !== undefined) at.other(name, names)
  }
  return built
}
