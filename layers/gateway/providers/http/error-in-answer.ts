import { ERRORS } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { upstreamWords } from '../../domain/routing/upstream-words.ts'
import { isObject } from '../../wire/basics/field-rules.ts'

/** A code is kept in the row and the log, which must have no text that may quote the prompt. */
const CODE = /^[a-z0-9_.-]{1,64}$/i
/** One of ours would tell whose fault the answer is, and that is not the upstream's to say. */
const isTheirs = (code: unknown): code is string =>
  typeof code === 'string' && CODE.test(code) && !Object.hasOwn(ERRORS, code)

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

export function aboutRequest(status: number, error: Record<string, unknown>, key: string | undefined): UpstreamFailure {
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
export function namesIn({ type, code, status }: Record<string, unknown>, key: string | undefined): string | undefined {
  const names = [type, code, status].filter((name) => typeof name === 'string' && CODE.test(name)) as string[]
  return [...new Set(names)].map((name) => upstreamWords(name, key)).join(' ') || undefined
}

const ABOUT_CONTENT = /moderation|flagged|content[ _-]?(?:policy|filter|management)|safety/i
/** A flagged account is the operator's problem, not the content's. */
const ABOUT_US = /\b(?:account|organi[sz]ation|project|workspace|billing|api[ _-]?key|credential)/i

/** True if an upstream's error is about the caller's content, and not about our account. */
export function isContentComplaint(error: JsonObject): boolean {
  const metadata = isObject(error.metadata) ? error.metadata : {}
  // OpenRouter lists the findings of its moderation.
  if (Array.isArray(metadata.reasons) || typeof metadata.flagged_input === 'string') return true
  if ([error.code, error.type].some((name) => typeof name === 'string' && ABOUT_CONTENT.test(name))) return true
  const { message } = error
  return typeof message === 'string' && ABOUT_CONTENT.test(message) && !ABOUT_US.test(message)
}
