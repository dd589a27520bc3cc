import { AdminError } from '../../layers/admin/api/admin-error.ts'
import type { AdminAnswer } from '../../layers/admin/api/call.ts'

/** Lambda returns 6 MB at most, in an envelope in which each quotation mark takes two bytes. */
const MOST_CHARS = 2_500_000

export async function wholeBody({ body }: AdminAnswer): Promise<string> {
  if (typeof body === 'string') return body
  let whole = ''
  for await (const piece of body) {
    whole += piece
    if (whole.length > MOST_CHARS) {
      throw new AdminError(
        'answer_too_large',
        'The answer is too long for here. Ask for less, such as a shorter period.',
      )
    }
  }
  return whole
}

/** The result of the work, unless the time ends before it. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(
      new AdminError(
        'took_too_long',
        'This took longer than it may here. A change may have been made all the same. Look, or ask again with the same Idempotency-Key. If you only looked, ask for less.',
      ),
    )
  }, ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
