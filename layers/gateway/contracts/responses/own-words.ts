import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'

export const OWN_WORDS: ReadonlyMap<string, string> = new Map([
  ['messages', 'input'],
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['response_format', 'text.format'],
  ['reasoning_effort', 'reasoning.effort'],
  ['verbosity', 'text.verbosity'],
  ['logprobs', 'include'],
  ['functions', 'tools'],
  ['function_call', 'tool_choice'],
])

/** An error with the caller's field names. The position in the messages cannot be told: several items became one message. */
export function inOwnWords({ kind, message, type, param, code }: GatewayError) {
  const root = param === null ? undefined : /^\w+/.exec(param)?.[0]
  const own = root === undefined ? undefined : OWN_WORDS.get(root)
  if (param === null || own === undefined) return { kind, message, type, param, code }
  const quoted = `'${param}'`
  const told = message.startsWith(quoted) ? `'${own}'${message.slice(quoted.length)}` : message
  return { kind, message: told, type, param: own, code }
}

/** Refuses a field that is well-formed but not supported. `why` follows the field's name. */
export function notTaken(param: string, why: string): GatewayError {
  return badRequest('unsupported_parameter', `'${param}' ${why}.`, param)
}
