/** Resolves when the promise has or the time is up; throws if the promise does in that time. */
export function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      settle()
    }
    promise.then(
      () => end(resolve),
      (error) => end(() => reject(error)),
    )
  })
}
