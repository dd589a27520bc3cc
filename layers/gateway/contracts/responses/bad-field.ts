import { GatewayError } from '../../domain/gateway-error.ts'
import { describe } from '../../wire/field-rules.ts'

type Fields = Readonly<Record<string, unknown>>

/** `wanted` is a sentence without its end. What was got is described, never quoted. */
export function badField(param: string | undefined, wanted: string, got: unknown): GatewayError {
  return new GatewayError('invalid_request', `${wanted}, but ${describe(got)}.`, param ? { param } : {})
}

/** A field that is well-formed and still not taken. `why` goes on after the field's name. */
export function notTaken(param: string, why: string): GatewayError {
  return new GatewayError('invalid_request', `'${param}' ${why}.`, { param, code: 'unsupported_parameter' })
}

export function requireText(fields: Fields, name: string, path: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '') return value
  throw badField(`${path}.${name}`, `'${path}.${name}' must be a string that is not empty`, value)
}
