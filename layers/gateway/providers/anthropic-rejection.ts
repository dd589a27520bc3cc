import { UpstreamFailure } from '../domain/upstream-failure.ts'

/** A request that the Messages API has no words for. It is refused before anything is sent. */
export function rejection(message: string, param: string): UpstreamFailure {
  return new UpstreamFailure('unsupported', message, { param })
}
