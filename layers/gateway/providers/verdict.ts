import type { RequestCode } from '../domain/basics/gateway-error.ts'
import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'

/** Names of fields are the caller's own and as long as it likes. */
const MAX_PARAM_CHARS = 100

/** The request breaks OpenAI's own contract, for every route: no other is tried. */
export function rejected(param: string, complaint: string): UpstreamFailure {
  return verdict('rejected', 'invalid_value', param, complaint)
}

/** The request is valid, but this dialect does not support it: another route of the same model may. */
export function unsupported(param: string, complaint: string): UpstreamFailure {
  return verdict('unsupported', 'unsupported_parameter', param, complaint)
}

function verdict(reason: 'rejected' | 'unsupported', code: RequestCode, param: string, complaint: string) {
  const name = param.slice(0, MAX_PARAM_CHARS)
  return new UpstreamFailure(reason, `'${name}' ${complaint}.`, { param: name, code })
}
