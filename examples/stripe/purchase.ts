/** A paid session of Stripe's Checkout. */
export type Purchase = {
  /** Two events may tell of one session, and one event may come twice: the session is what is paid once. */
  readonly session: string
  readonly credits: string
  /** The key or account that is topped up; without it the purchase makes a key. */
  readonly ownerId?: string
  readonly email: string
}

export type Read =
  | { readonly purchase: Purchase }
  /** Nothing is owed for this event. */
  | { readonly ignored: string }
  /** Money came, and a person has to look: Stripe shows the refusal, and sends the event again. */
  | { readonly refused: string }

type Session = Readonly<
  Record<'id' | 'payment_status' | 'amount_total' | 'amount_received' | 'currency' | 'client_reference_id', unknown> &
    Partial<Record<'metadata' | 'customer_details' | 'total_details', Record<string, unknown> | null>>
>

/** Payments that take days complete the session first and succeed later. */
const TYPES: readonly unknown[] = ['checkout.session.completed', 'checkout.session.async_payment_succeeded']
const CURRENCY = 'usd'
const CENTS = 100n

/** Reads an event whose signature was checked. */
export function readPurchase(event: unknown): Read {
  const { type, data } = (event ?? {}) as { type?: unknown; data?: { object?: Session } | null }
  const session = data?.object
  if (type === 'payment_intent.succeeded') return readCharge(session)
  if (!TYPES.includes(type) || !session) return { ignored: 'no purchase' }
  // The account may sell other things, too. A payment link hands its metadata on to its sessions.
  if (session.metadata?.product !== 'credits') return { ignored: 'another product' }
  if (session.payment_status !== 'paid') return { ignored: 'not paid yet' }
  if (!isSessionId(session.id)) return { refused: 'the session has no id' }
  if (session.currency !== CURRENCY) return { refused: `the currency must be ${CURRENCY}` }
  const cents = centsOf(session)
  if (cents === undefined || cents < 0n) return { refused: 'the amount is no number of cents' }
  if (cents === 0n) return { ignored: 'nothing was paid' }
  const { client_reference_id: keyId } = session
  return {
    purchase: {
      session: session.id,
      credits: creditsOf(cents),
      ...(typeof keyId === 'string' && /^key_\w{1,40}$/.test(keyId) && { ownerId: keyId }),
      email: emailOf(session.customer_details?.email),
    },
  }
}

/** A charge of a saved card, which charge.ts has asked for: others have no notice. */
function readCharge({ id, currency, amount_received, metadata }: Partial<Session> = {}): Read {
  const { notice, owner } = metadata ?? {}
  if (notice === undefined) return { ignored: 'another payment' }
  if (typeof id !== 'string' || !/^pi_\w{1,120}$/.test(id)) return { refused: 'the charge has no id' }
  const isOwner = typeof owner === 'string' && /^(key|acct)_\w{1,40}$/.test(owner)
  if (!isOwner || currency !== CURRENCY || !Number.isSafeInteger(amount_received) || Number(amount_received) <= 0)
    return { refused: 'the charge has no owner, or no amount in the currency' }
  return { purchase: { session: id, credits: creditsOf(BigInt(amount_received as number)), ownerId: owner, email: '' } }
}

const creditsOf = (cents: bigint) => `${cents / CENTS}.${String(cents % CENTS).padStart(2, '0')}`

/** The price without tax and shipping, which are not the shop's to give away. */
function centsOf({ amount_total, total_details }: Session): bigint | undefined {
  const [total, tax, shipping] = [amount_total, total_details?.amount_tax ?? 0, total_details?.amount_shipping ?? 0]
  if (![total, tax, shipping].every((cents) => Number.isSafeInteger(cents))) return undefined
  return BigInt(total as number) - BigInt(tax as number) - BigInt(shipping as number)
}

export function isSessionId(id: unknown): id is string {
  return typeof id === 'string' && /^cs_\w{1,120}$/.test(id)
}

/** A key has it as its name, which is one short line, so that a notice tells whom to write to. */
function emailOf(email: unknown): string {
  return typeof email === 'string' && /^[\x21-\x7e]{3,100}$/.test(email) ? email : 'customer'
}
