import { z } from 'zod'
import { orNull } from '../../../../layers/admin/api/shapes/parts.ts'
import {
  ERROR_KINDS,
  ERRORS,
  type ErrorKind,
  REQUEST_CODES,
} from '../../../../layers/gateway/domain/basics/gateway-error.ts'
import { name } from '../contracts/parts.ts'

/** Statuses with which an upstream's own type and code may come. */
const UPSTREAMS: readonly number[] = [ERRORS.upstream_rejected.status, ERRORS.request_too_large.status]

const TYPE = 'The kind of the error'
const CODE = 'The reason, for programs'

function errorBody(type: z.ZodType, code: z.ZodType) {
  const error = {
    message: name('The reason, for people, and the remedy.'),
    type,
    param: orNull(name('The field that is at fault, if there is one.')),
    code,
  }
  return z.object({ error: z.object(error).describe('The refusal.') })
}

const quoted = (words: readonly string[]) => [...new Set(words)].map((word) => `\`${word}\``).join(', ')

/** Every error but those of Messages. */
export const ErrorBody = errorBody(
  name(`${TYPE}: ${quoted(ERROR_KINDS.map((kind) => ERRORS[kind].type))}, or the upstream’s own.`),
  name(`${CODE}: ${quoted([...ERROR_KINDS, ...REQUEST_CODES])}, or the upstream’s own.`),
).describe('Every error has this shape, but those of Messages.')

/** The errors of one status. */
export function errorsOf(status: number, kinds: readonly ErrorKind[]): z.ZodType {
  if (UPSTREAMS.includes(status)) return ErrorBody
  const types = new Set(kinds.map((kind) => ERRORS[kind].type))
  return errorBody(z.enum([...types]).describe(`${TYPE}.`), z.enum(kinds).describe(`${CODE}.`))
}
