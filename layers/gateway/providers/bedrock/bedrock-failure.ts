import { type FailureReason, UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { upstreamWords } from '../../domain/routing/upstream-words.ts'
import { isObject } from '../../wire/basics/field-rules.ts'

/** The documented exceptions. Inside a stream they come without a status, so it is here. */
const KNOWN = new Map<string, readonly [FailureReason, number]>(
  Object.entries({
    ValidationException: ['rejected', 400],
    SerializationException: ['rejected', 400],
    RequestEntityTooLargeException: ['rejected', 413],
    AccessDeniedException: ['credential', 403],
    UnrecognizedClientException: ['credential', 403],
    InvalidSignatureException: ['credential', 403],
    IncompleteSignatureException: ['credential', 403],
    MissingAuthenticationTokenException: ['credential', 403],
    ExpiredTokenException: ['credential', 403],
    ThrottlingException: ['status', 429],
    ModelNotReadyException: ['status', 429],
    ServiceQuotaExceededException: ['status', 400],
    ConflictException: ['status', 400],
    ResourceNotFoundException: ['model_not_found', 404],
    ModelErrorException: ['status', 424],
    ModelStreamErrorException: ['status', 424],
    InternalServerException: ['status', 500],
    ServiceUnavailableException: ['status', 503],
    ModelTimeoutException: ['timeout', 408],
  }),
)

/** Errors of the SDK itself, when it finds no credentials to sign with. */
const NO_CREDENTIALS = new Set(['CredentialsProviderError', 'TokenProviderError', 'ProviderError'])
const UNNAMED = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError', 'TimeoutError', 'AbortError'])

/** Complaints about the model of the route, anchored at the start: later text may be the caller's. */
const NO_SUCH_MODEL =
  /^(?:the provided model identifier is invalid|invocation of model id \S+ with on-demand throughput isn.t supported|the provided model doesn.t support on-demand throughput|this model version has reached the end of its life)/i
/** Codes of an established connection that broke. */
const BROKEN_OFF = /^(?:ECONNRESET|EPIPE|ERR_HTTP2_\w+)$/
/** Node's message for a call whose connection was never established; its code alone could be of one that broke. */
const NEVER_SENT = /pending stream has been canceled/
const TOO_LONG =
  /(input|prompt) is too long|too many (input )?tokens|exceeds? the (maximum|model).{0,40}(tokens|context)/i
const BAD_FRAME = /checksum|message length|too short to accommodate|unrecognizable event type/i

export type Progress = 'none' | 'begun' | 'spoken'

/** The failure behind an error that the SDK threw. Only a complaint about the caller's own request keeps its message. */
export function bedrockFailure(error: unknown, progress: Progress): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  const thrown = describe(error)
  const { name, message, httpStatus } = thrown
  const [reason, status] = KNOWN.get(name) ?? reasonByStatus(httpStatus) ?? []
  if (NO_CREDENTIALS.has(name)) {
    return new UpstreamFailure('credential', `There are no AWS credentials to call Amazon Bedrock with (${name}).`)
  }
  if (reason === undefined) return brokenLine(thrown, progress !== 'none' || httpStatus !== undefined)
  if (reason === 'model_not_found' || (reason === 'rejected' && NO_SUCH_MODEL.test(message))) {
    const what = `Amazon Bedrock does not have the model (${name}).`
    return new UpstreamFailure('model_not_found', what, { status, said: name })
  }
  // Once it has spoken, the model has accepted the request: a refusal now is a broken answer.
  if (reason === 'rejected' && progress !== 'spoken') {
    const detail = { status, said: name, ...(TOO_LONG.test(message) && { code: 'context_length_exceeded' }) }
    return new UpstreamFailure('rejected', upstreamWords(message) || `Amazon Bedrock answered ${name}.`, detail)
  }
  const did = reason === 'credential' || reason === 'forbidden' ? 'refused our credential with' : 'answered'
  const words = `Amazon Bedrock ${did} ${UNNAMED.has(name) ? status : `${name} (${status})`}.`
  const detail = { status, ...(!UNNAMED.has(name) && { said: name }) }
  return new UpstreamFailure(reason === 'rejected' ? 'status' : reason, words, detail)
}

type Thrown = ReturnType<typeof describe>

/** The SDK's errors are of several classes, so the fields decide. */
function describe(error: unknown) {
  const fields = isObject(error) ? error : {}
  const metadata = isObject(fields.$metadata) ? fields.$metadata : {}
  return {
    cause: error,
    name: nameOf(fields.name),
    message: typeof fields.message === 'string' ? fields.message : '',
    code: codeOf(fields.cause) ?? codeOf(fields),
    httpStatus: typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined,
  }
}

/** The cause of an error of HTTP/2 is the socket's own error, which tells more. */
function codeOf(error: unknown): string | undefined {
  return isObject(error) && typeof error.code === 'string' ? error.code : undefined
}

/** In a stream the name of an exception begins in lower case; elsewhere some lack the last word. */
function nameOf(name: unknown): string {
  if (typeof name !== 'string' || !/^\w{1,64}$/.test(name)) return 'Error'
  const capitalized = name.charAt(0).toUpperCase() + name.slice(1)
  return KNOWN.has(`${capitalized}Exception`) ? `${capitalized}Exception` : capitalized
}

function reasonByStatus(status: number | undefined): readonly [FailureReason, number] | undefined {
  if (status === undefined || (status >= 200 && status < 300)) return undefined
  if (status === 401) return ['credential', status]
  if (status === 403) return ['forbidden', status]
  return [status === 408 ? 'timeout' : 'status', status]
}

function brokenLine({ name, message, code, cause }: Thrown, hasBegun: boolean): UpstreamFailure {
  const options = { cause }
  if (!UNNAMED.has(name) && code === undefined) {
    return new UpstreamFailure('error_event', `Amazon Bedrock reported ${name} in place of an answer.`, {}, options)
  }
  if (BAD_FRAME.test(message) || ['SyntaxError', 'TypeError', 'RangeError'].includes(name)) {
    return new UpstreamFailure('protocol', 'Amazon Bedrock sent something that cannot be read.', {}, options)
  }
  const isReset = hasBegun || (!NEVER_SENT.test(message) && (code === undefined || BROKEN_OFF.test(code)))
  const what = isReset ? 'broke the connection' : 'could not be reached'
  const words = `Amazon Bedrock ${what} (${code ?? 'unknown error'}).`
  return new UpstreamFailure(isReset ? 'reset' : 'connect', words, {}, options)
}
