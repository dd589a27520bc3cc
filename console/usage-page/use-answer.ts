import { useEffect, useState } from 'preact/hooks'
import { ask, type Failure } from './ask.ts'

export type Answered<Answer> = {
  readonly answer?: Answer
  readonly failure?: Failure
  readonly retry: () => void
}

/** The answer to one call, asked for when the part is shown, and again when somebody wants so. */
export function useAnswer<Answer>(secret: string, path: string): Answered<Answer> {
  const [told, setTold] = useState<{ readonly answer?: Answer; readonly failure?: Failure }>({})
  const [times, setTimes] = useState(0)
  useEffect(() => {
    let isGone = false
    setTold({})
    ask<Answer>(secret, path).then(
      (answer) => isGone || setTold({ answer }),
      (failure) => isGone || setTold({ failure }),
    )
    return () => {
      isGone = true
    }
  }, [secret, path, times])
  return { ...told, retry: () => setTimes(times + 1) }
}
