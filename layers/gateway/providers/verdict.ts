import { UpstreamFailure } from '../domain/upstream-failure.ts'

/** Names of fields are the caller's own and as long as it likes. */
const MAX_PARAM_CHARS = 100

/** The request breaks OpenAI's own contract, wherever it goes: no other route is tried. */
export function rejected(param: string, complaint: string): UpstreamFailure {
  return verdict('rejected', param, complaint)
}

/** The request is sound, but this dialect has no words for it: another route of the same model may have. */
export function unsupported(param: string, complaint: string): UpstreamFailure {
  return verdict('unsupported', param, complaint)
}

function verdict(reason: 'rejected' | 'unsupported', param: string, complaint: string): UpstreamFailure {
  const name = param.slice(0, MAX_PARAM_CHARS)
  return new UpstreamFailure(reason, `'${name}' ${complaint}.`, { param: name })
}
