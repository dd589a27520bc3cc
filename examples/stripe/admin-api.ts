export type Answer = { readonly status: number; readonly body: Record<string, unknown> }
export type Ask = (method: 'GET' | 'POST', path: string, body?: object, idempotencyKey?: string) => Promise<Answer>

/** `at` ends in `/keyed`. A gateway keeps an Idempotency-Key for 30 days, longer than Stripe repeats an event. */
export function openAdminApi(at: string, adminKey: string): Ask {
  const root = `${at.replace(/\/$/, '')}/admin/v1`
  return async (method, path, body, idempotencyKey) => {
    const response = await fetch(`${root}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${adminKey}`,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(35_000),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
}

/** The name of a refusal, such as reference_used. */
export function codeOf({ body }: Answer): unknown {
  return (body.error as { code?: unknown } | undefined)?.code
}
