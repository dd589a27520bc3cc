import { GatewayError } from '../domain/gateway-error.ts'
import { describe } from './field-rules.ts'

/** The refusal of a value, by the path of its field in the caller's own words. It never quotes the value. */
export function badField(path: string, wanted: string, got: unknown): GatewayError {
  return new GatewayError('invalid_request', `'${path}' must be ${wanted}, but ${describe(got)}.`, { param: path })
}
