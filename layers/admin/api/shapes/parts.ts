import { z } from 'zod'

export type Shape<Schema extends z.ZodType> = Frozen<z.input<Schema>>
export type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

export const text = (words: string) => z.string().describe(words)
export const count = (words: string) => z.int().describe(words)
export const flag = (words: string) => z.boolean().describe(words)
export const texts = (words: string) => z.array(z.string()).describe(words)

export function credits(words: string) {
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .describe(`${words} In credits, as a decimal string.`)
}

export function moment(words: string) {
  return z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .describe(`${words} In UTC.`)
}

export function kind<Name extends string>(name: Name) {
  return z.literal(name).describe('The kind of this object.')
}

/** It keeps the description of the value itself. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().describe(schema.description ?? '')
}

export const Quantiles = z
  .object({
    p50: z.int().min(0).nullable().describe('Half of the requests took no longer.'),
    p95: z.int().min(0).nullable().describe('Of twenty requests, nineteen took no longer.'),
  })
  .describe('Milliseconds, estimated from counts in buckets that are each 1.6 times as wide; null without requests.')

export const Warning = z.object({
  code: text('The kind of warning, for programs.'),
  param: orNull(text('The field that it is about; null if it is about none.')),
  message: text('What deserves a second look, for people.'),
})
export type Warning = Shape<typeof Warning>
export const WARNED = {
  warnings: z.array(Warning).describe('Of a change: what deserves a second look, if anything does.').optional(),
}
