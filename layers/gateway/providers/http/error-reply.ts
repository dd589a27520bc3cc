import type { JsonObject } from '../../domain/basics/json-object.ts'
import { TOO_MANY_REQUESTS, UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { aboutRequest, isContentComplaint, namesIn } from './error-in-answer.ts'
import { readAll } from './json-reply.ts'
import type { Reply } from './post.ts'

const MAX_ERROR_BYTES = 64 * 1024
const UNAUTHORIZED = 401
const FORBIDDEN = new Set([402, 403])
/** OpenAI's 429 to one request that has more tokens than the account may use in a minute. */
const LARGER_THAN_LIMIT = /^Request too large for /
const TIMED_OUT = new Set([408, 504])
const THE_REQUEST = new Set([400, 413, 422])

// A file of its own beside chat's code: loaded with the first such answer.

/** The meaning of an answer other than 200. Only a complaint about the caller's own request keeps its message. */
export async function readErrorReply(reply: Reply, key: string | undefined, model: string): Promise<UpstreamFailure> {
  const { status } = reply
  // An error needs no time for reasoning.
  reply.body.startIdleClock()
  const error = await readError(reply)
  const said = namesIn(error, key)
  if (isMissingModel(status, error, model)) {
    return new UpstreamFailure('model_not_found', 'The upstream does not have the model.', { status, said })
  }
  if (status === TOO_MANY_REQUESTS && typeof error.message === 'string' && LARGER_THAN_LIMIT.test(error.message)) {
    const message = 'The request is larger than the upstream takes in a minute.'
    return new UpstreamFailure('too_large', message, { status: 413, said })
  }
  if (THE_REQUEST.has(status) || (status === 403 && isContentComplaint(error))) return aboutRequest(status, error, key)
  if (status === UNAUTHORIZED || FORBIDDEN.has(status)) {
    const reason = status === UNAUTHORIZED ? 'credential' : 'forbidden'
    return new UpstreamFailure(reason, `The upstream refused our credential with ${status}.`, { status, said })
  }
  const detail = { status, said, retryAfterMs: reply.retryAfterMs }
  return new UpstreamFailure(TIMED_OUT.has(status) ? 'timeout' : 'status', `The upstream answered ${status}.`, detail)
}

async function readError(reply: Reply): Promise<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(await readAll(reply.body, MAX_ERROR_BYTES))
    // Google sends a list of one, and vLLM and Mistral the error itself.
    const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed
    if (!isObject(body)) return {}
    if (isObject(body.error)) return body.error
    return body.object === 'error' ? body : {}
  } catch {
    return {}
  }
}

/** The providers' codes for it: OpenAI and Groq, Groq, Azure, Mistral, Together. */
const NAMES: ReadonlySet<unknown> = new Set([
  ...['model_not_found', 'model_decommissioned', 'DeploymentNotFound', 'invalid_model', 'model_not_available'],
])

/** Complete messages of providers that have no code for it: vLLM and others, Ollama, Anthropic, OpenRouter, Google. */
const MESSAGES: readonly ((model: string) => RegExp)[] = [
  (model) => RegExp(`^The model:? \`${model}\` does not exist( or you do not have access to it)?\\.?$`),
  (model) => RegExp(`^model ["']${model}["'] not found(, try pulling it first)?$`),
  (model) => RegExp(`^model: ${model}$`),
  (model) => RegExp(`^${model} is not a valid model ID$`),
  (model) =>
    RegExp(`^models/${model} is not found for API version \\w+, or is not supported for \\w+\\. Call ListModels`),
]

// A message may quote the caller, and a field of the request may name a model too: so a code must not be about another
// field, and a message must match from its start and name the route's own model, which no caller chooses.
function isMissingModel(status: number, { code, type, param, message }: JsonObject, model: string): boolean {
  if (![400, 403, 404].includes(status)) return false
  const isAboutModel = param === undefined || param === null || param === 'model'
  if (isAboutModel && (NAMES.has(code) || NAMES.has(type))) return true
  if (typeof message !== 'string') return false
  return MESSAGES.some((sentenceOf) => sentenceOf(RegExp.escape(model)).test(message.trim()))
}
