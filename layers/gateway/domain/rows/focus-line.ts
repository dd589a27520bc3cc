import { DAY_MS, utcDay } from '../basics/time.ts'
import { formatCredits, type Nano } from '../money/money.ts'
import { PRICE_ROWS } from '../money/price-kinds.ts'
import { type DayTotal, UsageGroups } from './day-total.ts'

/** The names that a key and its account have now; ids of lines that must come out the same again are the total's own. */
export type Owner = {
  readonly accountId?: string | undefined
  readonly accountName?: string | undefined
  readonly keyName?: string | undefined
}

type Line = Owner & {
  readonly day: string
  readonly keyId: string
  readonly model: string
  readonly kind: string
  readonly unit: string
  readonly count: number
  readonly cost: Nano
}

const SELLER = 'Waybill'
/** A virtual currency: prices and charges are in credits. */
const CURRENCY = 'CREDITS'

type Column = string | null | ((line: Line) => string | null)

const cost: Column = (line) => formatCredits(line.cost)
const quantity: Column = ({ count }) => String(count)
const unit: Column = (line) => line.unit
const midnight = (day: string) => `${day}T00:00:00Z`

/** FOCUS 1.4, Cost and Usage. A day may have several unit prices, so a line has none. */
const COLUMNS: Readonly<Record<string, Column>> = {
  BilledCost: cost,
  BillingAccountId: ({ accountId, keyId }) => accountId ?? keyId,
  BillingAccountName: ({ accountId, accountName, keyName }) => (accountId ? accountName : keyName) ?? null,
  BillingAccountType: ({ accountId }) => (accountId ? 'Account' : 'Key'),
  BillingCurrency: CURRENCY,
  BillingPeriodEnd: ({ day }) => midnight(utcDay(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7))))),
  BillingPeriodStart: ({ day }) => midnight(`${day.slice(0, 7)}-01`),
  ChargeCategory: 'Usage',
  ChargeClass: null,
  ChargeDescription: ({ model, kind }) => `${model}, ${kind}`,
  ChargeFrequency: 'Usage-Based',
  ChargePeriodEnd: ({ day }) => midnight(utcDay(Date.parse(day) + DAY_MS)),
  ChargePeriodStart: ({ day }) => midnight(day),
  ConsumedQuantity: quantity,
  ConsumedUnit: unit,
  ContractedCost: cost,
  EffectiveCost: cost,
  HostProviderName: SELLER,
  InvoiceIssuerName: SELLER,
  ListCost: cost,
  PricingQuantity: quantity,
  PricingUnit: unit,
  ServiceCategory: 'AI and Machine Learning',
  ServiceName: SELLER,
  ServiceProviderName: SELLER,
  ServiceSubcategory: 'Generative AI',
  SkuId: ({ model, kind }) => `${model}/${kind}`,
  SkuMeter: ({ kind }) => kind,
  SubAccountId: ({ keyId }) => keyId,
  SubAccountName: ({ keyName }) => keyName ?? null,
  SubAccountType: 'Key',
  x_Model: ({ model }) => model,
}

export type FocusLine = Readonly<Record<string, string | null>>
export const FOCUS_COLUMNS = Object.keys(COLUMNS)
export const FOCUS_FOLDER = 'focus'

const UNITS = PRICE_ROWS.map(({ line, unit, quantity }) => {
  if (unit === 'token') return [line, 'Tokens'] as const
  return [line, quantity ? 'Images' : 'Requests'] as const
})

/** A line for each model and kind of price. Together they are the cost of the total, and always come in the same order. */
export function focusLines({ keyId, day, accountId, parts }: DayTotal, owner: Owner = { accountId }): FocusLine[] {
  const usage = parts.map((part) => ({ part }))
  return UsageGroups.of(usage, ({ part }) => part.model ?? '-')
    .byName()
    .flatMap(([model, { charges, cost, requests }]) => {
      const rest = Object.values(charges).reduce((left, charge) => left - charge.cost, cost)
      const of = { ...owner, day, keyId, model }
      const lines = UNITS.flatMap(([kind, unit]) => (charges[kind] ? [{ ...of, kind, unit, ...charges[kind] }] : []))
      // A total from before charges were kept, or with rows that have no price.
      const other = { ...of, kind: 'other', unit: 'Requests', count: requests, cost: rest }
      return rest === 0n ? lines : [...lines, other]
    })
    .map(lineOf)
}

function lineOf(line: Line): FocusLine {
  return Object.fromEntries(
    Object.entries(COLUMNS).map(([name, of]) => [name, typeof of === 'function' ? of(line) : of]),
  )
}
