import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { isObject } from '../../wire/field-rules.ts'
import { isContentComplaint } from './content-complaint.ts'
import { readAll } from './json-reply.ts'
import type { Reply } from './post.ts'

const MAX_ERROR_BYTES = 64 * 1024
const MAX_MESSAGE_CHARS = 1_000
/** A code is kept in the row and the log, where no words belong that may quote the prompt. */
const CODE = /^[a-z0-9_.-]{1,64}$/i
const REFUSED = 400
const OUR_CREDENTIAL = new Set([401, 402, 403])
const TIMED_OUT = new Set([408, 504])
const THE_REQUEST = new Set([400, 413, 422])

/** The meaning of an answer other than 200. Only a complaint about the caller's own request is passed on in words. */
export async function readErrorReply(reply: Reply, key: string | undefined): Promise<UpstreamFailure> {
  const { status } = reply
  // Nobody thinks about an error.
  reply.body.startIdleClock()
  const error = await readError(reply)
  if (THE_REQUEST.has(status) || (status === 403 && isContentComplaint(error))) return aboutRequest(status, error, key)
  if (OUR_CREDENTIAL.has(status)) {
    return new UpstreamFailure('credential', `The upstream refused our credential with ${status}.`, { status })
  }
  return new UpstreamFailure(TIMED_OUT.has(status) ? 'timeout' : 'status', `The upstream answered ${status}.`, {
    status,
    retryAfterMs: reply.retryAfterMs,
  })
}

/** An error in place of an answer, though the status was 200. */
export function errorInAnswer(error: unknown, key: string | undefined): UpstreamFailure {
  if (isObject(error) && isContentComplaint(error)) return aboutRequest(REFUSED, error, key)
  return new UpstreamFailure('error_event', 'The upstream reported an error in place of an answer.')
}

function aboutRequest(status: number, error: Record<string, unknown>, key: string | undefined): UpstreamFailure {
  const message = typeof error.message === 'string' ? clean(error.message, key) : `The upstream answered ${status}.`
  return new UpstreamFailure('rejected', message, {
    status,
    ...(typeof error.code === 'string' && CODE.test(error.code) && { code: clean(error.code, key) }),
    ...(typeof error.param === 'string' && { param: clean(error.param, key) }),
  })
}

async function readError(reply: Reply): Promise<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(await readAll(reply.body, MAX_ERROR_BYTES))
    const error = isObject(body) ? body.error : undefined
    return isObject(error) ? error : {}
  } catch {
    return {}
  }
}

/** Providers quote credentials in their errors. */
function clean(text: string, key: string | undefined): string {
  const withoutKey = key ? text.replaceAll(key, '[key]') : text
  return withoutKey.replace(/\b(?:sk|pk|gsk|xai|svc_live)[-_][\w*-]{6,}/g, '[key]').slice(0, MAX_MESSAGE_CHARS)
}
