import { badRequest } from '../../domain/basics/gateway-error.ts'
import { isObject } from '../basics/field-rules.ts'

/** True if the caller of a stream asks for its usage. */
export function readIncludeUsage(options: unknown, stream: boolean): boolean {
  if (!isObject(options)) return false
  if (stream) return options.include_usage === true
  throw badRequest('invalid_value', "'stream_options' is only allowed when 'stream' is true.", 'stream_options')
}
