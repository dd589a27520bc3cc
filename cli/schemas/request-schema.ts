import { BLOCK, CITED, DOCUMENT_SOURCE, IMAGE_SOURCE } from '../../layers/gateway/contracts/messages/block-fields.ts'
import { TOOL as MESSAGES_TOOL } from '../../layers/gateway/contracts/messages/tool-fields.ts'
import { CALLER, CONTENT, ITEM } from '../../layers/gateway/contracts/responses/item-fields.ts'
import { ENVIRONMENT, LISTED_TOOL, TOOL_CHOICE } from '../../layers/gateway/contracts/responses/tool-fields.ts'
import type { Rows, Schema, Shape, Treatment } from '../../layers/gateway/wire/basics/shape.ts'
import * as chat from '../../layers/gateway/wire/chat/chat-fields.ts'
import { USER_LOCATION, WEB_SEARCH_OPTIONS } from '../../layers/gateway/wire/chat/hosted-tools.ts'
import { cacheBreakpoint, cacheMark, GIVEN_CONTENT } from '../../layers/gateway/wire/chat/message-fields.ts'
import type { wordsOf } from './client-guide.ts'
import { type Json, refTo } from './json-schema.ts'

/** The shapes of fields that stand in many places, and in the document once. */
const FIELDS: Readonly<Record<string, Shape>> = {
  CacheControl: cacheMark,
  CacheBreakpoint: cacheBreakpoint,
  ChatContent: GIVEN_CONTENT,
  ChatTemplateArguments: chat.TEMPLATE_ARGUMENTS,
  Effort: chat.EFFORT,
  Moderation: chat.MODERATION,
  StructuredOutputs: chat.STRUCTURED_OUTPUTS,
  Thinking: chat.THINKING,
  UserLocation: USER_LOCATION,
  WebSearchOptions: WEB_SEARCH_OPTIONS,
  ResponseCaller: CALLER,
  ResponseEnvironment: ENVIRONMENT,
  ResponseToolChoice: TOOL_CHOICE,
  Citations: CITED,
}
/** The same for elements of lists and fields that are required, which cannot be null. */
const ELEMENTS: Readonly<Record<string, Shape>> = {
  ResponseItem: ITEM,
  ResponseContent: CONTENT,
  ResponseTool: LISTED_TOOL,
  MessagesBlock: BLOCK,
  MessagesTool: MESSAGES_TOOL,
  ImageSource: IMAGE_SOURCE,
  DocumentSource: DOCUMENT_SOURCE,
}
const NAMES = new Map(Object.entries({ ...FIELDS, ...ELEMENTS }).map(([name, { schema }]) => [schema, name]))

/** Every whole number of JSON is within these bounds. */
const NO_BOUNDS: readonly unknown[] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]

const TREATMENT_WORDS: Readonly<Record<Treatment, (schema: Schema) => string>> = {
  aliased: () => 'It goes out as a name that no other key can have.',
  leftOut: () => 'Accepted, and not passed on.',
  dropped: () => 'Left out, which X-Svc-Dropped-Fields reports.',
  never: ({ why }) => `A 400: it ${why}.`,
  paid: () => 'A 400 unless the operator allows it, because it may cost extra.',
  priced: () => 'Another value is a 400 unless the operator allows it, because it may cost extra.',
}

const HOSTED =
  'Passed on where the model has a price for its calls. Elsewhere it is left out, which X-Svc-Dropped-Fields reports.'
const NATIVE = 'For providers of another API format it is left out, which X-Svc-Dropped-Fields reports.'

/** The schema of a request, made of the rows by which the gateway reads it. */
export function requestSchema(fields: Rows, required: readonly string[], words: ReturnType<typeof wordsOf>): Json {
  const { properties, ...object } = objectOf(fields, required)
  const described = Object.entries(properties).map(([field, schema]) => [
    field,
    withWords(required.includes(field) ? notEmpty(schema) : schema, words[field]),
  ])
  return { ...object, properties: Object.fromEntries(described) }
}

type Properties = Readonly<Record<string, Json>>

function objectOf(rows: Schema, named: readonly string[]): Json & { readonly properties: Properties } {
  const needed = Object.keys(rows).filter((field) => (rows[field] as Partial<Shape>).needs !== undefined)
  const required = [...new Set([...named, ...needed])]
  const properties = Object.entries(rows).map(([field, row]) => {
    const schema = toJson(row as Schema)
    return [field, required.includes(field) ? schema : orNull(schema)]
  })
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) }
}

function toJson(node: Schema | Shape): Json {
  const schema = typeof node === 'function' ? (node as Shape).schema : node
  const name = NAMES.get(schema)
  return name === undefined ? written(schema) : refTo(name)
}

function written(schema: Schema): Json {
  const { by, kinds, patterns, properties, treatment, why, isNative, isHosted, ...plain } = schema
  return {
    ...(treatment !== undefined && { description: TREATMENT_WORDS[treatment as Treatment](schema) }),
    ...(isNative === true && { description: NATIVE }),
    ...(isHosted === true && { description: HOSTED }),
    ...(treatment === 'never' && { type: 'null' }),
    ...Object.fromEntries(Object.entries(plain).flatMap(keywordOf)),
    ...(properties !== undefined && objectOf(properties as Schema, [])),
    ...(kinds !== undefined && { anyOf: kindsOf(String(by), kinds as Schema, patterns as Schema) }),
  }
}

export const NAMED_PARTS: Readonly<Record<string, Json>> = Object.fromEntries([
  ...Object.entries(FIELDS).map(([name, { schema }]) => [name, orNull(written(schema))]),
  ...Object.entries(ELEMENTS).map(([name, { schema }]) => [name, written(schema)]),
])

function keywordOf([keyword, value]: [string, unknown]): [string, unknown][] {
  if (keyword === 'items' || keyword === 'additionalProperties') return [[keyword, toJson(value as Schema)]]
  if (keyword === 'anyOf') return [[keyword, (value as readonly Schema[]).map(toJson)]]
  return NO_BOUNDS.includes(value) ? [] : [[keyword, value]]
}

function kindsOf(by: string, kinds: Schema, patterns: Schema = {}): Json[] {
  const named = Object.entries(kinds).map(([kind, rows]) =>
    typeof rows === 'function'
      ? kindOf(by, { type: 'string', const: kind }, toJson(rows as Shape))
      : objectOf({ [by]: { type: 'string', const: kind }, ...(rows as Schema) }, [by]),
  )
  const others = Object.entries(patterns).map(([pattern, shape]) =>
    kindOf(by, { type: 'string', pattern }, toJson(shape as Shape)),
  )
  return [...named, ...others]
}

/** A kind with a shape of its own. One that may be left out has any fields. */
function kindOf(by: string, kind: Json, shape: Json): Json {
  if (Array.isArray(shape.anyOf) || shape.type === 'null') return shape
  const { type = 'object', properties, ...rest } = shape
  const named = { ...(properties as Json), [by]: kind }
  const open = properties === undefined && { additionalProperties: {} }
  return { ...rest, type, properties: named, required: [by], ...open }
}

function orNull({ description, ...bare }: Json): Json {
  const described = description ? { description } : {}
  if (Array.isArray(bare.anyOf)) return { ...described, ...bare, anyOf: [...bare.anyOf, { type: 'null' }] }
  if ('enum' in bare || 'const' in bare) return { ...described, anyOf: [bare, { type: 'null' }] }
  const hasNull = bare.type === undefined || bare.type === 'null'
  return { ...described, ...bare, ...(!hasNull && { type: [bare.type, 'null'].flat() }) }
}

function notEmpty(schema: Json): Json {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: schema.anyOf.map(notEmpty) }
  if (schema.type === 'array') return { minItems: 1, ...schema }
  return schema.type === 'string' ? { minLength: 1, ...schema } : schema
}

function withWords({ description, ...schema }: Json, words: string | undefined): Json {
  const described = [words, description].filter(Boolean).join(' ')
  return { ...(described && { description: described }), ...schema }
}
