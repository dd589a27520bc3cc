import { isObject } from '../../wire/basics/field-rules.ts'
import { unsupported } from '../verdict.ts'

type AnswerSchema = {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly schema: Readonly<Record<string, unknown>>
}

/** Other providers constrain an answer by a schema only: just any JSON could not be guaranteed. */
export function readAnswerSchema(format: unknown): AnswerSchema | undefined {
  if (!isObject(format) || format.type === 'text') return undefined
  const { name, description, schema } = isObject(format.json_schema) ? format.json_schema : {}
  if (format.type !== 'json_schema' || !isObject(schema)) {
    throw unsupported('response_format', "must be of type 'text', or 'json_schema' with a schema, with this model")
  }
  return { name: textOf(name), description: textOf(description), schema }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
