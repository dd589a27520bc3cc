import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'

/** Refuses a field that is well-formed but not supported. `why` follows the field's name. */
export function notTaken(param: string, why: string): GatewayError {
  return badRequest('unsupported_parameter', `'${param}' ${why}.`, param)
}

export function requireText(fields: JsonObject, name: string, path: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '') return value
  throw badField(`${path}.${name}`, 'a string that is not empty', value, fields)
}
