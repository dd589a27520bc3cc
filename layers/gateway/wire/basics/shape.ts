import type { ContractName } from '../../endpoints.ts'
import { isObject, type Wanted } from './field-rules.ts'
import type { Reading } from './reading.ts'

/** Builds a value anew from a caller's value: only known parts are copied. Undefined is left out, as null is. */
export type Read = (value: unknown, at: Reading) => unknown
export type Shape = Read & { readonly schema: Schema; readonly needs?: Need; readonly isHint?: true }

/** JSON Schema of the values that are accepted, null aside. A shape may stand in place of one. */
export type Schema = { readonly [keyword: string]: unknown }

type Need = { readonly wanted: Wanted; readonly isFine: (built: unknown) => boolean }

/** The special treatment of a field, for which docs/openapi.json has words. */
export type Treatment = 'aliased' | 'leftOut' | 'dropped' | 'never' | 'paid' | 'priced'

export type Rows = Readonly<Record<string, Shape>>

export const each = (shape: Shape, ...names: readonly string[]): Rows =>
  Object.fromEntries(names.map((name) => [name, shape]))

/** Only docs/openapi.json is made of the schema; requests are read by the function. */
export const shaped = (schema: Schema, read: Read): Shape => Object.assign(read, { schema })

export const plain = (schema: Schema, wanted: Wanted, isFine: (sent: unknown) => boolean): Shape =>
  shaped(schema, (sent, at) => {
    if (isFine(sent)) return sent
    return sent === null ? undefined : at.refuse(wanted, sent)
  })

export const text = plain({ type: 'string' }, 'a string', (sent) => typeof sent === 'string')
export const flag = plain({ type: 'boolean' }, 'true or false', (sent) => typeof sent === 'boolean')
export const jsonObject = plain({ type: 'object' }, 'an object', isObject)

export const word = (...words: readonly string[]): Shape =>
  plain({ type: 'string', enum: words }, words, (sent) => words.includes(sent as string))

export const number = (minimum: number, maximum: number): Shape =>
  plain(
    { type: 'number', minimum, maximum },
    `a number between ${minimum} and ${maximum}`,
    (sent) => typeof sent === 'number' && sent >= minimum && sent <= maximum,
  )

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): Shape =>
  plain(
    { type: 'integer', minimum, maximum },
    maximum === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${minimum}`
      : `an integer between ${minimum} and ${maximum}`,
    (sent) => Number.isSafeInteger(sent) && (sent as number) >= minimum && (sent as number) <= maximum,
  )

export const scalar = plain(
  { type: ['string', 'number', 'boolean'] },
  'a string, a number, true or false',
  (sent) => typeof sent === 'string' || typeof sent === 'number' || typeof sent === 'boolean',
)

/** JSON of the caller's own, such as a schema. Its size is held, and its field names mean nothing to the provider. */
export const json: Shape = shaped({}, (sent) => sent ?? undefined)

export const needed = (shape: Shape, wanted: Wanted, isFine = (built: unknown) => built !== undefined): Shape => {
  const read: Read = (sent, at) => shape(sent, at)
  return Object.assign(read, { schema: shape.schema, needs: { wanted, isFine } })
}

/** An answer without it is still the answer that was asked for, so a dialect that lacks it leaves it out. */
export const hint = (shape: Shape): Shape => {
  const read: Read = (sent, at) => shape(sent, at)
  return Object.assign(read, shape, { isHint: true as const })
}

/** A field of an answer that clients send back, or one that no provider may be given. */
export const leftOut: Shape = shaped(treated('leftOut'), () => undefined)

/** Left out and reported: the answer is the one that was asked for without it, too. */
export const dropped: Shape = shaped(treated('dropped'), (sent, at) =>
  isEmpty(sent) ? undefined : at.leaveOut('is not passed on'),
)

/** A value for providers of the request's own API format. For others it is left out and reported. */
export const native = (shape: Shape): Shape =>
  shaped({ ...shape.schema, isNative: true }, (sent, at) => {
    const built = shape(sent, at)
    if (built !== undefined) at.noteNative()
    return built
  })

/** Such kinds of elements of a list, each with its fields. */
export const nativeKinds = (kinds: Readonly<Record<string, Rows>>): Readonly<Record<string, Shape>> =>
  Object.fromEntries(
    Object.entries(kinds).map(([kind, rows]) => {
      const shape = object({ type: text, ...rows })
      const read: Read = (sent, at) => {
        at.noteNative(kind)
        return shape(sent, at)
      }
      return [kind, shaped({ ...shape.schema, isNative: true }, read)]
    }),
  )

export const never = (why: string): Shape =>
  shaped({ ...treated('never'), why }, (sent, at) => (isEmpty(sent) ? undefined : at.forbid(why)))

function isEmpty(sent: unknown): boolean {
  return sent === null || sent === '' || (Array.isArray(sent) && sent.length === 0)
}

/** A field that costs extra with any value: the operator may allow it, or it is left out. */
export const paid: Shape = shaped(treated('paid'), (sent, at) => (sent === null ? undefined : at.paid()))

/** A value that has the list price; the operator may allow others, or they are left out. */
export const priced = (schema: Schema, wanted: Wanted, isFine: (sent: unknown) => boolean): Shape =>
  shaped({ ...schema, ...treated('priced') }, (sent, at) => {
    if (isFine(sent)) return sent
    return sent === null ? undefined : at.dearer(wanted, sent)
  })

export const option = (...words: readonly string[]): Shape => {
  const shape = priced({ type: 'string', enum: words }, words, (sent) => words.includes(sent as string))
  return shaped(shape.schema, (sent, at) =>
    typeof sent === 'object' || typeof sent === 'string' ? shape(sent, at) : at.refuse(words, sent),
  )
}

/** A tier of service: one at the list price, or, where the model has a price for it, one of the others by their words. */
export const tier = (
  atListPrice: readonly string[],
  others: Readonly<Record<string, string>>,
  ...formats: ContractName[]
) => {
  const words = [...new Set([...atListPrice, ...Object.keys(others)])]
  const known = option(...words)
  return shaped(known.schema, (sent, at) => {
    const tier = typeof sent === 'string' && Object.hasOwn(others, sent) ? others[sent] : undefined
    return tier === undefined ? known(sent, at) : at.leaveOut('has no price here', { tier, formats })
  })
}

export function treated(treatment: Treatment) {
  return { treatment }
}

export function list(items: Shape, maxItems = Number.POSITIVE_INFINITY): Shape {
  const wanted = maxItems === Number.POSITIVE_INFINITY ? 'an array' : `an array of at most ${maxItems} elements`
  return shaped({ type: 'array', items, maxItems }, (sent, at) => {
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

export const record = (shape: Shape, maxProperties: number): Shape =>
  shaped({ type: 'object', additionalProperties: shape, maxProperties }, (sent, at) => {
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

export function object(properties: Rows): Shape {
  const known = knownRows(properties)
  return shaped({ type: 'object', properties }, (sent, at) => {
    if (sent === null) return undefined
    return isObject(sent) ? buildFields(sent, known, at) : at.refuse('an object', sent)
  })
}

export function variants(
  by: string,
  kinds: Readonly<Record<string, Rows | Shape>>,
  otherwise = noOther(by, kinds),
): Shape {
  const shapes = new Map(
    Object.entries(kinds).map(([kind, rows]) => [
      kind,
      typeof rows === 'function' ? rows : object({ [by]: text, ...rows }),
    ]),
  )
  return shaped({ by, kinds }, (sent, at) => {
    if (sent === null) return undefined
    const shape = isObject(sent) ? shapes.get(sent[by] as string) : undefined
    return (shape ?? otherwise)(sent, at)
  })
}

const noOther =
  (by: string, kinds: Readonly<Record<string, unknown>>): Read =>
  (sent, at) => {
    if (!isObject(sent)) return at.refuse(`an object with a '${by}'`, sent)
    at.enter(by)
    return at.refuse(Object.keys(kinds), sent[by], sent)
  }

/** A text, of these words if there are any, or a list or an object of another shape. */
export const textOr = (other: Shape, wanted: string, ...words: readonly string[]): Shape =>
  shaped({ anyOf: [words.length === 0 ? text : word(...words), other] }, (sent, at) => {
    if (typeof sent === 'string') return words.length === 0 || words.includes(sent) ? sent : at.refuse(words, sent)
    return typeof sent === 'object' ? other(sent, at) : at.refuse(`a string or ${wanted}`, sent)
  })

export type KnownRows = ReturnType<typeof knownRows>

export function knownRows(rows: Rows) {
  const needs = Object.entries(rows).flatMap(([name, shape]) => (shape.needs ? [[name, shape.needs] as const] : []))
  return { shapes: new Map(Object.entries(rows)), names: Object.keys(rows), needs }
}

/** The known fields of an object, built one by one. The reading is told of all others. */
export function buildFields(
  sent: Readonly<Record<string, unknown>>,
  { shapes, names, needs }: KnownRows,
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
  for (const [name, { wanted, isFine }] of needs) {
    if (isFine(built[name])) continue
    at.enter(name)
    at.refuse(wanted, built[name])
  }
  return built
}
