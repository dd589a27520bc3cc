import { openAdminApi } from './admin-api.ts'
import { cardCharger, openStripe } from './charge.ts'
import { createShop } from './shop.ts'

function required(name: string): string {
  const value = process.env[name]
  if (value) return value
  console.error(`Set ${name}: docs/guide-stripe.md says what it is.`)
  process.exit(1)
}

const stripeKey = process.env.STRIPE_API_KEY

const shop = createShop({
  // 25 dollars at a time, and 200 in a month.
  charge: stripeKey ? cardCharger(openStripe(stripeKey), 2_500, 20_000, Date.now) : undefined,
  stripeSecret: required('STRIPE_WEBHOOK_SECRET'),
  noticeSecret: required('WAYBILL_WEBHOOK_SECRET'),
  paymentLink: required('PAYMENT_LINK'),
  ask: openAdminApi(required('WAYBILL_ADMIN'), required('WAYBILL_ADMIN_KEY')),
  // In place of your own way to send mail.
  mail: async (to, text) => console.log(`mail to ${to}: ${text}`),
  log: console.error,
  clock: Date.now,
})
const port = Number(process.env.PORT ?? 4242)
shop.listen(port, '127.0.0.1', () => console.log(`The shop is open: http://127.0.0.1:${port}`))
