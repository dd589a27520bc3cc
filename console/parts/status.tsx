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
