import type { RequestCode } from '../domain/basics/gateway-error.ts'
import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'
import type { ChatCall } from './provider.ts'

/** Names of fields are the caller's own and as long as it likes. */
const MAX_PARAM_CHARS = 100

/** The request breaks OpenAI's own contract, for every route: no other is tried. */
export function rejected(param: string, complaint: string): UpstreamFailure {
  return verdict('rejected', param, complaint)
}

/** The request is valid, but this dialect does not support it: another route of the same model may. */
export function unsupported(param: string, complaint: string): UpstreamFailure {
  return verdict('unsupported', param, complaint)
}

/** Leaves out a field that this dialect does not know, if the provider's entry says so, and refuses it otherwise. */
export function leaveOut(
  { dropsUnknown, noteDropped }: Pick<ChatCall, 'dropsUnknown' | 'noteDropped'>,
  name: string,
  complaint: string,
): void {
  if (!dropsUnknown) throw unsupported(name, complaint)
  noteDropped([name])
}

function verdict(reason: 'rejected' | 'unsupported', param: string, complaint: string): UpstreamFailure {
  const name = param.slice(0, MAX_PARAM_CHARS)
  const code: RequestCode = reason === 'unsupported' ? 'unsupported_parameter' : 'invalid_value'
  return new UpstreamFailure(reason, `'${name}' ${complaint}.`, { param: name, code })
}
