import type { AdminAnswer } from '../../layers/admin/api/call.ts'
import type { ApiError } from '../../layers/admin/api/shapes/answers.ts'
import { CliError } from '../../layers/terminal/output.ts'

export class Refusal extends CliError {
  readonly answer: AdminAnswer
  readonly status: number
  readonly code: string | null

  constructor(answer: AdminAnswer & { readonly body: string }) {
    const { error } = JSON.parse(answer.body) as ApiError
    // Sentences for programs are left out: nobody types an Idempotency-Key.
    super(error.message.replace(/ ?[^.]*\bIdempotency-Key\b[^.]*\./g, ''))
    this.answer = answer
    this.status = answer.status
    this.code = error.code
  }
}

/** The outcome of a change is unknown: no answer came, or one that does not tell. */
export class OutcomeUnknown extends CliError {
  readonly reason: string

  constructor(cause: unknown) {
    const { name, message } = cause as Error
    const reason = cause instanceof CliError ? message.replace(/\.$/, '') : `${name}: ${message}`
    super(`It is not known whether the change was made (${reason}): look before you try again.`, { cause })
    this.reason = reason
  }
}

/** Replaces the admin API's message, or is made from it. */
type Words = string | ((told: string) => string)

/** Replaces the messages of refusals with these codes by those of the command line. */
export async function inWords<T>(asked: Promise<T>, words: Readonly<Record<string, Words>>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const better = words[error.code ?? '']
    if (better === undefined) throw error
    throw new CliError(typeof better === 'string' ? better : better(error.message), { cause: error })
  }
}
