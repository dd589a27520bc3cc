const WORDS: Readonly<Record<string, string>> = {
  empty: 'no credits left',
  idle: 'not used for 90 days',
  no_allowlist: 'any address',
  low: 'runs dry soon',
}

const BAD = new Set(['empty', 'revoked', 'expired', 'failed', 'upstream_error', 'abandoned', 'wrong', 'failing'])
const GOOD = new Set(['active', 'completed', 'settled', 'balanced', 'ok'])
const WARN = new Set(['suspended', 'low', 'idle', 'open', 'refused', 'unstable'])

export function Badge({ of }: { readonly of: string }) {
  const kind = BAD.has(of) ? 'bad' : GOOD.has(of) ? 'good' : WARN.has(of) ? 'warn' : ''
  return <span class={`badge ${kind}`}>{WORDS[of] ?? of}</span>
}
