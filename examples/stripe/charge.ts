import type { Answer } from './admin-api.ts'

export type AskStripe = (path: string, form?: Record<string, string>, idempotencyKey?: string) => Promise<Answer>

/** Returns what came of it. Throws if Stripe does not say: the notice must come again. */
export type Charge = (notice: {
  readonly id: string
  readonly customer: string
  readonly owner: string
}) => Promise<string>

type Intent = {
  readonly amount: number
  readonly created: number
  readonly status: string
  readonly metadata: Partial<Record<'notice' | 'owner', string>>
}

export function isCustomer(id: unknown): id is string {
  return typeof id === 'string' && /^cus_\w{1,100}$/.test(id)
}

export function openStripe(secretKey: string, at = 'https://api.stripe.com'): AskStripe {
  return async (path, form, idempotencyKey) => {
    const response = await fetch(`${at}/v1${path}`, {
      method: form ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${secretKey}`, ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }) },
      ...(form && { body: new URLSearchParams(form) }),
      signal: AbortSignal.timeout(30_000),
    })
    const body = (await response.json()) as Answer['body']
    // 402 is a card that was declined. A key that is in use is that of the same charge, under way.
    if (response.ok || response.status === 402) return { status: response.status, body }
    throw new Error(`Stripe answered ${path.split('?')[0]} with ${response.status}`)
  }
}

/** Two days longer than a notice is tried, and than Stripe surely knows an Idempotency-Key. */
const LOOK_BACK_MS = 5 * 24 * 60 * 60 * 1000
const IS_PAID = new Set(['succeeded', 'processing', 'requires_capture'])

/** Charges once for a notice, and no more than the cap in a UTC month. One after another, so that no two pass the cap together. */
export function cardCharger(ask: AskStripe, cents: number, mostCents: number, clock: () => number): Charge {
  let last: Promise<unknown> = Promise.resolve()
  return (notice) => {
    const charged = last.then(() => charge(notice))
    last = charged.catch(() => {})
    return charged
  }

  async function charge({ id, customer, owner }: Parameters<Charge>[0]): Promise<string> {
    const now = new Date(clock())
    const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
    const since = Math.floor(Math.min(monthMs, clock() - LOOK_BACK_MS) / 1000)
    const { body } = await ask(`/payment_intents?customer=${customer}&limit=100&created[gte]=${since}`)
    const intents = body.data as readonly Intent[]
    if (intents.some(({ metadata }) => metadata.notice === id)) return 'charged before'
    const paid = intents.filter(({ status, created }) => IS_PAID.has(status) && created * 1000 >= monthMs)
    const spent = paid.reduce((sum, { amount }) => sum + amount, 0)
    if (body.has_more || spent + cents > mostCents) return 'not charged: the cap of the month'
    const cards = await ask(`/customers/${customer}/payment_methods?type=card&limit=1`)
    const [card] = cards.body.data as readonly { readonly id: string }[]
    if (!card) return 'not charged: no saved card'
    const form = { amount: String(cents), currency: 'usd', customer, payment_method: card.id }
    const how = { confirm: 'true', off_session: 'true', 'metadata[notice]': id, 'metadata[owner]': owner }
    const { status } = await ask('/payment_intents', { ...form, ...how }, `notice-${id}`)
    return status === 402 ? 'declined' : 'charged'
  }
}
