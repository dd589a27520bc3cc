import { createHmac, randomBytes } from 'node:crypto'

// Stands in for a customer and for Stripe, whose events have this form: pay.ts DOLLARS [KEY_ID]
const [dollars = '', keyId] = process.argv.slice(2)
const [whole = '', cents = ''] = dollars.split('.')
if (!/^\d{1,6}(\.\d\d)?$/.test(dollars)) throw new Error('Say how much is paid, such as 25.00.')

const session = `cs_test_${randomBytes(24).toString('hex')}`
const seconds = Math.floor(Date.now() / 1000)
const body = JSON.stringify({
  id: `evt_${randomBytes(12).toString('hex')}`,
  object: 'event',
  created: seconds,
  type: 'checkout.session.completed',
  data: {
    object: {
      id: session,
      object: 'checkout.session',
      mode: 'payment',
      status: 'complete',
      payment_status: 'paid',
      amount_total: Number(`${whole}${cents.padEnd(2, '0')}`),
      currency: 'usd',
      client_reference_id: keyId ?? null,
      customer_details: { email: 'ann@example.com' },
      metadata: { product: 'credits' },
      total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    },
  },
})
const signature = createHmac('sha256', process.env.STRIPE_WEBHOOK_SECRET ?? '')
  .update(`${seconds}.${body}`)
  .digest('hex')
const shop = process.env.SHOP ?? 'http://127.0.0.1:4242'
const response = await fetch(`${shop}/stripe`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'Stripe-Signature': `t=${seconds},v1=${signature}` },
  body,
})
console.log(`${response.status} ${await response.text()}`)
console.log(`${shop}/welcome?session_id=${session}`)
