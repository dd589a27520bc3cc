import type { KeptAnswer } from '../../domain/admission/idempotency.ts'
import { badRequest, type ErrorKind, GatewayError } from '../../domain/basics/gateway-error.ts'

const WORDS = {
  'other secret': [
    'idempotent_answer_not_kept',
    "was made with the key's other secret, and only that one opens its answer.",
  ],
  'other body': ['idempotency_key_reused', 'had another body. Send a new Idempotency-Key with every new request.'],
  running: ['idempotency_key_in_use', 'is still being answered. Try again in 2 s.'],
  'not kept': [
    'idempotent_answer_not_kept',
    'was answered and charged, but its answer was too large to be kept or could not be stored.',
  ],
} as const satisfies Record<string, readonly [ErrorKind, string]>

export type NotReplayed = keyof typeof WORDS

export function notReplayed({ requestId }: KeptAnswer, why: NotReplayed): GatewayError {
  const [kind, words] = WORDS[why]
  return new GatewayError(kind, `The first request with this Idempotency-Key, ${requestId}, ${words}`)
}

export function notAName(name: string, isVisible: boolean): GatewayError {
  return badRequest(
    'invalid_idempotency_key',
    `The Idempotency-Key header must have 1 to 255 visible ASCII characters, such as a UUID; it has ${name.length}${isVisible ? '' : ', not all of them visible'}.`,
  )
}
