export type Answer = { readonly status: number; readonly body: Record<string, unknown> }
export type Ask = (method: 'GET' | 'POST', path: string, body?: object, idempotencyKey?: string) => Promise<Answer>

const MOST_MS = 35_000

/**
 * `at` is the address that `waybill console` prints, or that of a stage with `/keyed` behind it, for which `adminKey` is. Keys of
 * the header Idempotency-Key are kept for 30 days, longer than Stripe repeats an event.
 */
export async function openAdminApi(at: string, adminKey: string | undefined): Promise<Ask> {
  const { origin, pathname, hash } = new URL(at)
  const credentials = adminKey
    ? { Authorization: `Bearer ${adminKey}` }
    : { 'X-Waybill-Console': await consoleToken(origin, hash.replace('#launch=', '')) }
  const root = `${origin}${pathname.replace(/\/$/, '')}/admin/v1`

  return async (method, path, body, idempotencyKey) => {
    const response = await fetch(`${root}${path}`, {
      method,
      headers: {
        ...credentials,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(MOST_MS),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
}

async function consoleToken(origin: string, launch: string): Promise<string> {
  const response = await fetch(`${origin}/console/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ launch }),
  })
  const { token } = (await response.json()) as { token?: string }
  if (token === undefined) throw new Error('The address of the console was used already. Start waybill console anew.')
  return token
}

/** The name of a refusal, such as reference_used. */
export function codeOf({ body }: Answer): unknown {
  return (body.error as { code?: unknown } | undefined)?.code
}
