import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import type { SettingChanges } from '../../gateway/domain/keys/key-settings.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { planNamed } from '../../gateway/domain/money/plan.ts'
import type { CatalogData, Plan } from '../../gateway/domain/routing/catalog.ts'
import { readCatalogVersion, readStoredCatalog, type StoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { closest } from '../../gateway/wire/basics/closest.ts'
import { settingsIn } from '../settings/key-settings.ts'
import { PLAN_DEFAULTS } from '../settings/setting-fields.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { catalogInForce, putInForce, refuseLosses } from './catalog.ts'
import { noteUnchanged } from './changed-key.ts'
import { nothingToChange, readFields, wrong } from './fields.ts'
import { wholeList } from './pages.ts'
import { expectedVersionOf } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import { type createPlanBody, updateKeyBody, type updatePlanBody } from './shapes/bodies.ts'
import type { PlanShape } from './shapes/catalog.ts'
import { warnOf } from './warnings.ts'

type Fields = z.output<typeof updatePlanBody>

export async function list({ tables }: Call): Promise<List<PlanShape>> {
  const stored = await readStoredCatalog(tables)()
  return wholeList(stored ? namesIn(stored).map((name) => shape(stored, name)) : [])
}

export async function get(call: Call): Promise<PlanShape> {
  return shape(await catalogInForce(call), call.path.name ?? '')
}

export async function create(call: Call, { name, ...fields }: z.output<typeof createPlanBody>): Promise<PlanShape> {
  const [version, stored] = [expectedVersionOf(call), await catalogInForce(call)]
  if (!planNamed(stored.data.plans, name)) return put(call, { ...stored, version }, name, fields, { factor: '1' })
  const message = `There is a plan '${name}' already. Change it with 'waybill plans update ${shellWord(name)}'.`
  throw new AdminError('conflict', message, { param: 'name' })
}

export async function update(call: Call, fields: Fields): Promise<PlanShape> {
  if (Object.keys(fields).length === 0) throw nothingToChange()
  const [version, stored, name] = [expectedVersionOf(call), await catalogInForce(call), call.path.name ?? '']
  return put(call, { ...stored, version }, name, fields, planIn(stored, name))
}

async function put(call: Call, stored: StoredCatalog, name: string, fields: Fields, was: Plan) {
  const { factor = was.factor, prices, below_cost: isMeant, ...defaults } = fields
  const own = { ...was.prices, ...(prices && (await readPrices(stored.data, prices))) }
  const plan = { factor, prices: given(own), defaults: given({ ...was.defaults, ...defaults }) } as Plan
  if (isDeepStrictEqual(stored.data.plans?.[name], plan)) {
    noteUnchanged(call, `plan ${name}`)
    return shape(stored, name)
  }
  const data = { ...stored.data, plans: { ...stored.data.plans, [name]: plan } }
  refuseLosses(`The plan '${name}'`, { ...data, plans: { [name]: plan } }, isMeant)
  await warnOf(call, { id: name, models: plan.defaults?.models as string[] | undefined })
  const source = (await readCatalogVersion(call.tables)(stored.version))?.source
  const { version } = await putInForce(call, data, { expectedVersion: stored.version, plan: name, source }, true)
  return shape({ ...stored, data, version }, name)
}

/** Null takes a value away. */
function given(fields: object) {
  const kept = (_: string, value: unknown) => (typeof value === 'bigint' ? formatCredits(value) : (value ?? undefined))
  return JSON.parse(JSON.stringify(fields, kept))
}

/** The validator of prices is loaded lazily, with that of catalogs. */
async function readPrices({ models }: CatalogData, prices: NonNullable<Fields['prices']>) {
  const schemas = await import('../../catalog/price-schema.ts')
  const ids = models.map(({ id }) => id)
  const read = Object.entries(prices).map(([id, sent]) => {
    if (sent === null) return [id, null]
    if (!ids.includes(id)) throw wrong('prices', `has '${id}', which is no model of the catalog.${meant(id, ids)}`)
    const isEmbedding = models[ids.indexOf(id)]?.kind === 'embedding'
    const { data, error } = (isEmbedding ? schemas.embeddingPrices : schemas.prices).safeParse(sent)
    const [fault] = error?.issues ?? []
    if (fault) throw wrong('prices', `of '${id}': ${fault.path.join('.')} ${fault.message}.`)
    return [id, data]
  })
  return Object.fromEntries(read)
}

function meant(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  return near === undefined ? '' : ` Did you mean '${near}'?`
}

const namesIn = ({ data }: StoredCatalog) => Object.keys(data.plans ?? {}).sort()

function shape(stored: StoredCatalog, name: string): PlanShape {
  const { factor, prices = {}, defaults = {} } = planIn(stored, name)
  const told = Object.keys(PLAN_DEFAULTS).map((field) => [field, defaults[field] ?? null])
  return { object: 'plan', name, factor, prices, ...Object.fromEntries(told), version: stored.version }
}

function planIn(stored: StoredCatalog, name: string, param?: string): Plan {
  const [plan, names] = [planNamed(stored.data.plans, name), namesIn(stored)]
  if (plan) return plan
  const there = names.length > 0 ? `There are: ${names.join(', ')}.` : "'waybill plans create' makes one."
  const message = `There is no plan '${name}'.${meant(name, names)} ${there}`
  throw new AdminError(param === undefined ? 'not_found' : 'invalid_request', message, { param })
}

/** The settings that a new key has by its plan, or by that of its account. A plan that there is not is refused. */
export async function planDefaults(call: Call, name: string | null | undefined): Promise<SettingChanges> {
  if (name == null) return {}
  const { defaults = {} } = planIn(await catalogInForce(call), name, 'plan')
  return settingsIn(readFields(updateKeyBody, defaults), call.nowMs)
}
