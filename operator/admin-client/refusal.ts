import type { ApiError } from '../admin-api/shapes.ts'
import { CliError } from '../cli-error.ts'

/** What the admin API's own words say to a program, as it is said to a person at a terminal. */
const AT_A_TERMINAL: Readonly<Record<string, string>> = {
  outcome_unknown: 'The database did not answer, or not in time.',
  took_too_long:
    'It took longer than the admin API of a stage may take: ask for less, or let somebody ask who may read the tables.',
  service_unavailable:
    "The database did not answer (with --local: does 'npm start' still run?), or too many changes met at one moment. If this was a change, it may have been made all the same: look before you try again.",
}

/** An answer other than the one that was asked for. */
export class Refusal extends CliError {
  readonly status: number
  /** The admin API's; null if it has none, or if somebody else answered in its place. */
  readonly code: string | null
  /** Whether the admin API itself has answered. */
  readonly isItsOwn: boolean

  constructor(status: number, text: string) {
    const error = errorIn(text)
    super(messageOf(status, text, error))
    this.status = status
    this.code = error?.code ?? null
    this.isItsOwn = error !== undefined
  }
}

/** Nobody knows whether a change was made: no answer came, or one that does not say. */
export class Unanswered extends CliError {
  /** Why not, in a few words. */
  readonly reason: string

  constructor(cause: unknown) {
    const { name, message } = cause as Error
    const reason = cause instanceof CliError ? message.replace(/\.$/, '') : `${name}: ${message}`
    super(`It is not known whether the change was made (${reason}): look before you try again.`, { cause })
    this.reason = reason
  }
}

/** Whether an error leaves open what became of a change. A client that throws in words has not sent it. */
export function wasLost(error: unknown): boolean {
  if (error instanceof Refusal) return error.status >= 500 && !error.isItsOwn
  return !(error instanceof CliError)
}

/** In place of the admin API's, or made of them. */
type Words = string | ((told: string) => string)

/** The words of the command line for refusals with one of these codes. */
export async function inWords<T>(asked: Promise<T>, words: Readonly<Record<string, Words>>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const better = error instanceof Refusal && error.code !== null ? words[error.code] : undefined
    if (better === undefined) throw error
    throw new CliError(typeof better === 'string' ? better : better((error as Refusal).message), { cause: error })
  }
}

function messageOf(status: number, text: string, error: ApiError['error'] | undefined): string {
  if (!error) return `The admin API could not be asked: the answer was status ${status}${detailOf(text)}`
  return AT_A_TERMINAL[error.code ?? ''] ?? error.message
}

function errorIn(text: string): ApiError['error'] | undefined {
  const error = (parsed(text) as Partial<ApiError> | null)?.error
  return typeof error?.message === 'string' ? error : undefined
}

/** As API Gateway and IAM say it. */
function detailOf(text: string): string {
  const said = parsed(text) as { message?: unknown; Message?: unknown } | null
  const detail = said?.message ?? said?.Message
  return typeof detail === 'string' ? `: ${detail.replace(/\.$/, '')}.` : '.'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
