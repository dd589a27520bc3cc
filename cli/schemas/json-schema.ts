import { STATUS_CODES } from 'node:http'
import { z } from 'zod'

export type Json = { readonly [name: string]: unknown }
type Schemas = Readonly<Record<string, z.ZodType>>

export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** A reference for a component; any other schema stands where it is used. */
export function schemaOf(schema: z.ZodType, components: Schemas): Json {
  const known = Object.entries(components).find(([, component]) => component === schema)
  return known ? refTo(known[0]) : (componentSchemas({ ...components, schema }).schema as Json)
}

/** Zod writes references among the schemas of one registry only, so any other schema is converted beside them. */
export function componentSchemas(components: Schemas): Json {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(components)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => refTo(id).$ref, override: tidy })
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]))
}

/** Every whole number of JSON is within these bounds, and words stand once. */
function tidy({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  for (const one of jsonSchema.anyOf ?? []) if (one.description === jsonSchema.description) delete one.description
}

export const jsonContent = (schema: Json) => ({ 'application/json': { schema } })

export const statusName = (status: number) => (STATUS_CODES[status] ?? `Status${status}`).replaceAll(' ', '')
