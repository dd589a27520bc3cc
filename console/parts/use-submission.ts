import { useRef, useState } from 'preact/hooks'
import { type ApiFailure, failureFrom } from '../api.ts'

export type FormSubmission = {
  readonly isRunning: boolean
  readonly failure: ApiFailure | undefined
  /** The answer was lost: only the same submission may be sent again, until the outcome is known. */
  readonly isOutcomeUnknown: boolean
  readonly idempotencyKey: string
  readonly run: (submit: () => Promise<void>) => Promise<void>
}

/** The server has refused the content, so the next submission is another one. */
const REFUSED = [400, 409, 422]

export function isRefused({ status }: ApiFailure): boolean {
  return REFUSED.includes(status)
}

/** A change that a dialog submits. Its Idempotency-Key stays until it is refused, so that a second submission does it once. */
export function useSubmission(): FormSubmission {
  const idempotencyKey = useRef<string | undefined>(undefined)
  idempotencyKey.current ??= crypto.randomUUID()
  const [isRunning, setRunning] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | undefined>(undefined)

  const run = async (submit: () => Promise<void>) => {
    if (isRunning) return
    setRunning(true)
    try {
      await submit()
      setFailure(undefined)
    } catch (error) {
      const failed = failureFrom(error)
      if (isRefused(failed)) idempotencyKey.current = undefined
      setFailure(failed)
    } finally {
      setRunning(false)
    }
  }
  return {
    isRunning,
    failure,
    isOutcomeUnknown: failure?.isOutcomeUnknown ?? false,
    idempotencyKey: idempotencyKey.current,
    run,
  }
}
