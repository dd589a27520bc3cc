import { createHmac } from 'node:crypto'
import { createShop } from '../../../examples/stripe/shop.ts'
import { listen } from '../../support/listen.ts'

const SECRET = 'whsec_of_stripe'

export const nowSeconds = () => Math.floor(Date.now() / 1000)
export const sign = (body: string, time: number | string = nowSeconds(), secret = SECRET) =>
  createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')

export type Answer = { readonly status: number; readonly text: string }
type Given = Omit<Parameters<typeof createShop>[0], 'stripeSecret' | 'paymentLink'>

/** A shop on this machine. */
export async function openShop(given: Given, stack: AsyncDisposableStack) {
  const server = createShop({ ...given, stripeSecret: SECRET, paymentLink: 'https://buy.stripe.com/test' })
  const { url } = stack.use(await listen(server))
  const post = async (path: string, body: string, headers: Record<string, string>): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  }
  /** An event, as Stripe sends it. */
  const send = (event: unknown) => {
    const [body, time] = [JSON.stringify(event), nowSeconds()]
    return post('/stripe', body, { 'Stripe-Signature': `t=${time},v1=${sign(body, time)}` })
  }
  return { url, post, send }
}

let count = 0

/** The event of a purchase of 25 dollars. */
export function paid(changes: object = {}, type = 'checkout.session.completed') {
  const object = {
    id: `cs_test_${String(++count).padStart(8, '0')}`,
    object: 'checkout.session',
    payment_status: 'paid',
    amount_total: 2500,
    currency: 'usd',
    client_reference_id: null,
    customer_details: { email: 'ann@example.com' },
    metadata: { product: 'credits' },
    ...changes,
  }
  return { type, data: { object } }
}
