import { UpstreamFailure } from '../domain/upstream-failure.ts'

/** Aborts at this moment, with the words that the caller is told. */
export function startDeadline(atMs: number, nowMs: number, words: string): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort(new UpstreamFailure('deadline', words))
  const timer = setTimeout(abort, Math.max(0, atMs - nowMs))
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
