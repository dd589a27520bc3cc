import { UpstreamFailure } from '../layers/gateway/domain/upstream-failure.ts'

export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return `${error.reason}: ${error.message}`
  return (error as Error).name === 'TimeoutError' ? 'timeout: it took too long' : String(error)
}
