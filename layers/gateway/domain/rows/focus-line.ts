import { DAY_MS, utcDay } from '../basics/time.ts'
import { formatCredits, type Nano } from '../money/money.ts'
import { PRICE_ROWS } from '../money/price-kinds.ts'
import { type DayTotal, UsageGroups } from './day-total.ts'

type Charged = DayTotal & {
  readonly accountName?: string | undefined
  readonly keyName?: string | undefined
  /** The setting of the stage, such as `USD 2`. */
  readonly currency?: string | undefined
}
export type FocusLine = ReturnType<typeof lineOf>
export const FOCUS_FOLDER = 'focus'

const SELLER = 'Waybill'
/** A virtual currency: prices and charges are in credits. */
const CURRENCY = 'CREDITS'
const UNITS = PRICE_ROWS.map(
  ({ line, unit, quantity, calls }) =>
    [line, unit === 'token' ? 'Tokens' : calls ? 'Calls' : quantity ? 'Images' : 'Requests'] as const,
)

/** A line for each model and kind of price. Together they are the cost of the total, and always come in the same order. */
export function focusLines(total: Charged): FocusLine[] {
  const groups = UsageGroups.of(
    total.parts.map((part) => ({ part })),
    ({ part }) => part.model ?? '-',
  )
  return groups.byName().flatMap(([model, part]) => {
    let rest = part.cost
    const lines = UNITS.flatMap(([kind, unit]) => {
      const [count, cost] = [part[`${kind} units`], part[`${kind} charge`]]
      rest -= cost
      return count > 0 ? lineOf(total, model, kind, unit, count, cost) : []
    })
    // A total from before charges were kept, or with rows that have no price.
    return rest === 0n ? lines : [...lines, lineOf(total, model, 'other', 'Requests', part.requests, rest)]
  })
}

/** FOCUS 1.4, Cost and Usage. A day may have several unit prices, so a line has none. */
function lineOf(of: Charged, model: string, kind: string, unit: string, count: number, cost: Nano) {
  const { day, keyId, accountId, accountName = null, keyName = null, currency } = of
  const midnight = (ms: number) => `${utcDay(ms)}T00:00:00Z`
  const [fromMs, year, month] = [Date.parse(day), Number(day.slice(0, 4)), Number(day.slice(5, 7))]
  const [billed, quantity] = [formatCredits(cost), String(count)]
  return {
    BilledCost: billed,
    BillingAccountId: accountId ?? keyId,
    BillingAccountName: accountId ? accountName : keyName,
    BillingAccountType: accountId ? 'Account' : 'Key',
    BillingCurrency: currency?.split(' ')[0] ?? CURRENCY,
    BillingPeriodEnd: midnight(Date.UTC(year, month)),
    BillingPeriodStart: midnight(Date.UTC(year, month - 1)),
    ChargeCategory: 'Usage',
    ChargeClass: null,
    ChargeDescription: `${model}, ${kind}`,
    ChargePeriodEnd: midnight(fromMs + DAY_MS),
    ChargePeriodStart: midnight(fromMs),
    ConsumedQuantity: quantity,
    ConsumedUnit: unit,
    ContractedCost: billed,
    EffectiveCost: billed,
    HostProviderName: SELLER,
    InvoiceIssuerName: SELLER,
    ListCost: billed,
    PricingQuantity: quantity,
    PricingUnit: unit,
    ServiceCategory: 'AI and Machine Learning',
    ServiceName: SELLER,
    ServiceProviderName: SELLER,
    SkuId: `${model}/${kind}`,
    SkuMeter: kind,
    SubAccountId: keyId,
    SubAccountName: keyName,
    x_Model: model,
  }
}

export const FOCUS_COLUMNS = Object.keys(lineOf({ keyId: '', day: '2026-01-01', parts: [] }, '', '', '', 0, 0n))
