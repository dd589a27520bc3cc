import { z } from 'zod'

export type Json = { readonly [name: string]: unknown }
type Schemas = Readonly<Record<string, z.ZodType>>

export const SCHEMAS = '#/components/schemas/'

/** The components of a document as JSON Schema. */
export function componentSchemas(components: Schemas): Json {
  return convert(components, {}).components
}

/** A reference for a component; any other schema stands where it is used. */
export function schemaOf(schema: z.ZodType, components: Schemas): Json {
  const known = Object.entries(components).find(([, component]) => component === schema)
  return known ? { $ref: `${SCHEMAS}${known[0]}` } : (convert(components, { schema }).other.schema ?? {})
}

/** Zod writes references among the schemas of one registry only, so each schema is converted beside the components. */
function convert(components: Schemas, others: Schemas): { components: Json; other: Record<string, Json> } {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries({ ...components, ...others })) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `${SCHEMAS}${id}`, override: tidy })
  const bare = Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema as Json] as const)
  const isOther = ([id]: readonly [string, Json]) => id in others
  return {
    components: Object.fromEntries(bare.filter((one) => !isOther(one))),
    other: Object.fromEntries(bare.filter(isOther)),
  }
}

/** Every whole number of JSON is within these bounds, and words stand once. */
function tidy({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  for (const one of jsonSchema.anyOf ?? []) if (one.description === jsonSchema.description) delete one.description
}

export function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } }
}
