import { z } from 'zod'
import { PLAN_DEFAULTS } from '../../settings/setting-fields.ts'
import { count, credits, flag, kind, orNull, Quantiles, type Shape, text, texts, WARNED } from './parts.ts'

const pushed = {
  version: count('The version of the catalog.'),
  pushed_at: text('The moment of its push, in UTC.'),
  by: orNull(text('Who pushed it; null if that is not known.')),
  note: orNull(text('Why it was pushed, in the words of who pushed it; null if nothing was said.')),
}

export const Catalog = z.object({
  object: kind('catalog'),
  ...pushed,
  catalog: z.record(z.string(), z.unknown()).describe('The catalog itself, as catalog.schema.json describes it.'),
  source: orNull(
    z.record(z.string(), z.unknown()).describe('The catalog as its author wrote it: in that order, without defaults.'),
  ),
  changes: texts('The changes against compared_to, in words.'),
  compared_to: orNull(
    count('The version that changes are against: the one before, unless another is asked for; null if it is not kept.'),
  ),
  warnings: texts('Prices that look wrong.'),
})
export type CatalogShape = Shape<typeof Catalog>

export const CatalogVersion = z.object({
  object: kind('catalog.version'),
  ...pushed,
  in_force: flag('It is the one in force.'),
})
export type CatalogVersionShape = Shape<typeof CatalogVersion>

const Fault = z.object({ path: text('The place of the fault in the catalog.'), message: text('The fault.') })

export const CatalogCheck = z.object({
  object: kind('catalog.check'),
  valid: flag('It could be put in force.'),
  faults: z.array(Fault).describe('All reasons why it could not.'),
  warnings: texts('Prices and context lengths that look wrong.'),
  below_cost: texts('Those of the warnings that are of plans with a price below the cost of a route.'),
  changes: texts('The changes against the catalog in force, in words.'),
  in_force: z
    .object({ version: pushed.version, pushed_at: pushed.pushed_at })
    .nullable()
    .describe('The catalog that it was compared with; null if there is none yet.'),
})
export type CatalogCheck = Shape<typeof CatalogCheck>

export const Plan = z.object({
  object: kind('plan'),
  name: text('The name of the plan.'),
  factor: text('The prices of the catalog are multiplied by it, each rounded up to a whole picocredit.'),
  prices: z.record(z.string(), z.unknown()).describe('Its own prices, by the model, in place of the catalog’s.'),
  ...PLAN_DEFAULTS,
  version: count('The version of the catalog that has it. It goes in If-Match, in quotes.'),
  ...WARNED,
})
export type PlanShape = Shape<typeof Plan>

const route = {
  model: text('The model of the catalog.'),
  provider: text('The provider of the route.'),
  upstream_model: text('The name of the model at the provider.'),
}

export const Route = z.object({
  object: kind('route'),
  ...route,
  order: count('The place among the routes of the model; 1 is tried first.'),
  priority: count('Routes of a lower one are tried first.'),
  weight: count('Routes of one priority share the requests by their weights.'),
  share: z.number().min(0).max(1).describe('The share of the requests that come to its priority.'),
  first_byte_timeout_ms: count('An answer that has not begun by then is given up.'),
  idle_timeout_ms: count('The longest pause between two pieces of an answer.'),
  requests_24h: count('Attempts at this model of the provider, whichever model of the catalog was asked for.'),
  failures_24h: count('Those at which the provider failed, even if another route then answered.'),
  refused_24h: count('Those at which the provider refused the caller’s request.'),
  last_failure: z
    .object({
      at: text('The moment of it, in UTC.'),
      request_id: text('The request whose attempt failed.'),
      result: text('The outcome of the attempt, as its usage record has it.'),
      words: text('The same in words.'),
    })
    .nullable()
    .describe('The last failure of the provider in 24 hours; null if there was none.'),
  resting_until: orNull(
    text(
      'The latest moment until which an instance may let the route rest and try others first, after a failure that no success has followed; null if none does.',
    ),
  ),
  first_token_ms: Quantiles.describe(
    'The time to the first token of the requests for this model that the provider answered in 24 hours.',
  ),
})
export type RouteShape = Shape<typeof Route>

export const RouteTest = z.object({
  object: kind('route.test'),
  ...route,
  ok: flag('The route answers.'),
  result: text('The outcome, in words.'),
  first_token_ms: orNull(count('Milliseconds until the first token; null if none came.')),
  tokens: orNull(count('Tokens of prompt and answer, as the provider counts them.')),
  cost: orNull(credits('The charge at the price of the model.')),
})
export type RouteTestShape = Shape<typeof RouteTest>
