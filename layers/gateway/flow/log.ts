import type { UpstreamFailure } from '../domain/upstream-failure.ts'
import type { UsageRow } from '../domain/usage-row.ts'

/** What an operator is told. Nothing here takes a prompt, an answer or a secret. */
export type Log = {
  /** One line for every request that has a row. */
  request(row: UsageRow): void
  upstreamFailed(provider: string, failure: UpstreamFailure): void
  /** Something that should not happen. */
  problem(what: string, error: unknown, requestId: string): void
}

/** One JSON line each, for CloudWatch. */
export function jsonLog(print: (line: string) => void): Log {
  const line = (level: string, event: string, fields: Record<string, unknown>) =>
    print(
      JSON.stringify({ level, event, ...fields }, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
    )
  return {
    request: (row) => line('info', 'request', row),
    upstreamFailed: (provider, failure) =>
      line('warn', 'upstream_failed', {
        provider,
        reason: failure.reason,
        status: failure.detail.status,
        message: failure.message,
      }),
    problem: (what, error, requestId) => line('error', 'problem', { requestId, what, error: describeError(error) }),
  }
}

export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  return { name: error.name, message: error.message, stack: error.stack }
}
