import type { Catalog, Plan, Plans, PricedModel } from '../routing/catalog.ts'
import { parseDecimal } from './money.ts'
import { type Price, parsePrice, type RangePrice } from './price.ts'
import { PRICE_ROWS } from './price-kinds.ts'

const WHOLE = 10_000n

/** In ten-thousandths; undefined if it is none from 0.0001 to 100. */
export function parseFactor(text: string): bigint | undefined {
  const factor = text.length <= '100.0000'.length ? parseDecimal(text, 4) : undefined
  return factor !== undefined && factor > 0n && factor <= 100n * WHOLE ? factor : undefined
}

/** Every price times the factor, each rounded up to a whole picocredit, so that a hold still covers its charge. */
export function scaledPrice(price: Price, factor: string): Price {
  const by = parseFactor(factor)
  if (by === undefined) throw new Error(`The factor of a plan is damaged: '${factor}'.`)
  const times = (pico: bigint) => (pico * by + WHOLE - 1n) / WHOLE
  const scaled = (range: RangePrice): RangePrice => ({
    ...range,
    ...Object.fromEntries(PRICE_ROWS.map(({ pico }) => [pico, times(range[pico])])),
    heldWritePico: times(range.heldWritePico),
  })
  const services = [...price.serviceTiers].map(([name, range]) => [name, scaled(range)] as const)
  return { ...scaled(price), tiers: price.tiers.map(scaled), serviceTiers: new Map(services) }
}

export function planNamed(plans: Plans | undefined, name: string): Plan | undefined {
  return plans && Object.hasOwn(plans, name) ? plans[name] : undefined
}

const PLANNED = new WeakMap<Catalog, Map<string, Catalog>>()

/** The same catalog with the prices of a plan, made once; undefined if it has no such plan. */
export function withPlan(base: Catalog, name: string): Catalog | undefined {
  const [plan, made] = [planNamed(base.plans, name), PLANNED.get(base) ?? new Map<string, Catalog>()]
  PLANNED.set(base, made)
  const models = (by: Plan) => new Map([...base.models].map(([id, model]) => [id, planned(model, by)]))
  if (plan && !made.has(name)) made.set(name, { ...base, base, plan: name, models: models(plan) })
  return made.get(name)
}

/** Most models of a plan are never asked, so their prices are worked out when they are. */
export function planned(model: PricedModel, { factor, prices = {} }: Plan): PricedModel {
  const own = Object.hasOwn(prices, model.id) ? prices[model.id] : undefined
  if (own) return { ...model, price: own, tokenPrice: parsePrice(own) }
  let price: Price | undefined
  return {
    ...model,
    factor,
    get tokenPrice() {
      price ??= scaledPrice(model.tokenPrice, factor)
      return price
    },
  }
}
