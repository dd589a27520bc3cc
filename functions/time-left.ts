/** Lambda's context. */
export type Context = { getRemainingTimeInMillis(): number }

/** Kept back from the function's timeout, for work that is under way when a run ends itself. */
const RESERVE_MS = 30_000

/** The time that a run has for more work; without Lambda's context there is no end. */
export function timeLeft(context?: Context): () => number {
  return () => (context?.getRemainingTimeInMillis() ?? Infinity) - RESERVE_MS
}
