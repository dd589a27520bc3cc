import { ERRORS } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { TOO_MANY_REQUESTS, UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { upstreamWords } from '../../domain/routing/upstream-words.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { readAll } from './json-reply.ts'
import type { Reply } from './post.ts'

const MAX_ERROR_BYTES = 64 * 1024
/** A code is kept in the row and the log, which must have no text that may quote the prompt. */
const CODE = /^[a-z0-9_.-]{1,64}$/i
/** One of ours would tell whose fault the answer is, and that is not the upstream's to say. */
const isTheirs = (code: unknown): code is string =>
  typeof code === 'string' && CODE.test(code) && !Object.hasOwn(ERRORS, code)
const UNAUTHORIZED = 401
const FORBIDDEN = new Set([402, 403])
/** OpenAI's 429 to one request that has more tokens than the account may use in a minute. */
const LARGER_THAN_LIMIT = /^Request too large for /
const TIMED_OUT = new Set([408, 504])
const THE_REQUEST = new Set([400, 413, 422])

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

/** An error in place of an answer, though the status was 200. */
export function errorInAnswer(error: unknown, key: string | undefined): UpstreamFailure {
  if (isObject(error) && isContentComplaint(error)) return aboutRequest(400, error, key)
  const message = 'The upstream reported an error in place of an answer.'
  const said = isObject(error) ? namesIn(error, key) : undefined
  return new UpstreamFailure('error_event', message, { status: statusOfError(error), said })
}

/** Names that providers give to errors which depend on the request, or on our credential. */
const STATUS_OF_NAME: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['invalid_prompt', 400],
  ['context_length_exceeded', 400],
  ['string_above_max_length', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
])

/** The status that an error would have had in place of the whole answer, if it tells. */
export function statusOfError(error: unknown): number | undefined {
  if (!isObject(error)) return undefined
  const { code, type, status } = error
  const number = [code, status].map(Number).find((said) => Number.isInteger(said) && said >= 400 && said < 600)
  return number ?? STATUS_OF_NAME.get(code) ?? STATUS_OF_NAME.get(type)
}

function aboutRequest(status: number, error: Record<string, unknown>, key: string | undefined): UpstreamFailure {
  const message =
    typeof error.message === 'string' ? upstreamWords(error.message, key) : `The upstream answered ${status}.`
  return new UpstreamFailure('rejected', message, {
    status,
    said: namesIn(error, key),
    ...(isTheirs(error.code) && { code: upstreamWords(error.code, key) }),
    ...(typeof error.param === 'string' && { param: upstreamWords(error.param, key) }),
  })
}

/** `rate_limit_error tokens`: by the shape of a name, so that no sentence about the request is among them. */
function namesIn({ type, code, status }: Record<string, unknown>, key: string | undefined): string | undefined {
  const names = [type, code, status].filter((name) => typeof name === 'string' && CODE.test(name)) as string[]
  return [...new Set(names)].map((name) => upstreamWords(name, key)).join(' ') || undefined
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

const ABOUT_CONTENT = /moderation|flagged|content[ _-]?(?:policy|filter|management)|safety/i
/** A flagged account is the operator's problem, not the content's. */
const ABOUT_US = /\b(?:account|organi[sz]ation|project|workspace|billing|api[ _-]?key|credential)/i

/** True if an upstream's error is about the caller's content, and not about our account. */
function isContentComplaint(error: JsonObject): boolean {
  const metadata = isObject(error.metadata) ? error.metadata : {}
  // OpenRouter lists the findings of its moderation.
  if (Array.isArray(metadata.reasons) || typeof metadata.flagged_input === 'string') return true
  if ([error.code, error.type].some((name) => typeof name === 'string' && ABOUT_CONTENT.test(name))) return true
  const { message } = error
  return typeof message === 'string' && ABOUT_CONTENT.test(message) && !ABOUT_US.test(message)
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
