import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'

export const STATES = ['active', 'suspended', 'expired', 'revoked'] as const satisfies readonly KeyShape['status'][]

/** Badges of keys whose names do not say it. */
export const BADGE_WORDS: Readonly<Record<string, string>> = {
  empty: 'no credits left',
  idle: 'not used for 90 days',
  no_allowlist: 'any address',
  low: 'runs dry soon',
}

const BAD = new Set(['empty', 'revoked', 'expired', 'failed', 'upstream_error', 'abandoned', 'wrong', 'failing'])
const GOOD = new Set(['active', 'completed', 'settled', 'balanced', 'ok'])
const WARN = new Set(['suspended', 'low', 'idle', 'open', 'refused', 'unstable'])

/** Most keys may be used from every address: that is told where it is asked for. */
export function attentionOf({ badges }: { readonly badges: readonly string[] }): readonly string[] {
  return badges.filter((badge) => badge !== 'no_allowlist')
}

export function Badge({ of }: { readonly of: string }) {
  const kind = BAD.has(of) ? 'bad' : GOOD.has(of) ? 'good' : WARN.has(of) ? 'warn' : ''
  return <span class={`badge ${kind}`}>{BADGE_WORDS[of] ?? of}</span>
}

/** Of a route or a provider, by its attempts: more than half failed, or more than one of twenty. */
export function routeState(attempts: number, failures: number): string {
  if (attempts === 0) return 'not asked'
  if (failures > attempts / 2) return 'failing'
  return failures > attempts / 20 ? 'unstable' : 'ok'
}

type Ended = { readonly http_status: number; readonly outcome: string; readonly error_code: string | null }

/** The first thing to see of a request: its HTTP status as a badge, and the code of its error. */
export function Status({ of: { http_status: status, outcome, error_code: code } }: { readonly of: Ended }) {
  return (
    <>
      <span class={`badge ${kindOf(status, outcome)}`} title={outcome}>
        {status > 0 ? status : outcome}
      </span>
      {code && <span class="note">{code}</span>}
    </>
  )
}

function kindOf(status: number, outcome: string): string {
  if (status >= 500 || outcome === 'upstream_error' || outcome === 'abandoned') return 'bad'
  return status >= 400 || status === 0 ? 'warn' : 'good'
}
