import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { CatalogShape, PlanShape } from '../../layers/admin/api/shapes/catalog.ts'
import { factor, PLAN_DEFAULTS, planName } from '../../layers/admin/settings/setting-fields.ts'
import { printJson, printList, printTable } from '../../layers/terminal/output.ts'
import {
  argument,
  checkedBy,
  keySettings,
  option,
  required,
  type SettingOptions,
  settingsOf,
  usually,
} from './arguments.ts'
import { requireChange } from './keys.ts'
import type { CommandRow, Session } from './open-session.ts'

const isDefault = (field: string): field is keyof typeof PLAN_DEFAULTS => Object.hasOwn(PLAN_DEFAULTS, field)
/** A plan need not have any of them. */
const DEFAULTS = keySettings(false).flatMap((setting) => {
  const { field, option: own } = setting
  if (!isDefault(field)) return []
  const valueIn = (text: string, nowMs: number) => (text.trim() === '' ? null : setting.valueIn(text, nowMs))
  const check = checkedBy(PLAN_DEFAULTS[field], (text) => valueIn(text, 0))
  return [{ ...setting, valueIn, option: option(own.flags, own.description, check) }]
})
const FACTOR = 'times the prices of the catalog: 0.0001 to 100, at most 4 decimals'
const optionsOf = (isNew: boolean) => [
  option('--factor <factor>', isNew ? usually(FACTOR, '1') : FACTOR, argument(factor)),
  option('--prices <file>', 'prices of its own in JSON: by the model, as in a catalog, or null for none'),
  ...DEFAULTS.map((setting) => setting.option),
]
type PlanOptions = SettingOptions & { readonly name?: string; readonly prices?: string }

const planAt = ({ admin }: Session, name: string) => admin.get<PlanShape>(`/plans/${encodeURIComponent(name)}`)
const all = ({ admin }: Session) => admin.get<List<PlanShape>>('/plans')
const list = async (session: Session) => printList(session, await all(session), COLUMNS)
const look = async (session: Session, _: object, name: string) => show(session, await planAt(session, name))

export const PLANS: CommandRow = {
  words: 'prices for some keys and accounts, and limits for the keys that are made with them',
  commands: {
    create: {
      words: 'make a plan',
      options: [required('--name <name>', 'its name, for good', argument(planName)), ...optionsOf(true)],
      work: put,
    },
    list: { words: 'every plan, by name', work: list },
    'show <plan>': { words: 'one plan', work: look },
    'update <plan>': {
      words: 'change a plan; an empty text takes a limit away',
      options: optionsOf(false),
      check: ({ factor, prices, ...more }: PlanOptions) =>
        requireChange({ factor, prices, ...settingsOf(DEFAULTS, more, 0) }, '--factor 1.25'),
      work: put,
    },
  },
}

/** A new plan has its name among the options. */
async function put(session: Session, options: PlanOptions, name = options.name ?? ''): Promise<void> {
  const [{ admin, out, nowMs }, isNew] = [session, options.name !== undefined]
  const { version } = isNew ? await admin.get<CatalogShape>('/catalog') : await planAt(session, name)
  const { readCatalogJson } = await import('./read-catalog-file.ts')
  const prices = options.prices && (await readCatalogJson(options.prices, undefined, 'list of prices'))
  const own = { factor: options.factor, prices, ...settingsOf(DEFAULTS, options, nowMs) }
  const [method, path] = isNew ? (['POST', '/plans'] as const) : (['PATCH', `/plans/${name}`] as const)
  await session.confirm(() => `put the plan ${name} in force`)
  const made = await admin.change<PlanShape>(method, path, { name: options.name, ...own }, version)
  const isSame = made.version === version
  out.error(isSame ? 'It is as it was.' : 'Its prices hold within 30 seconds everywhere, and at once on one machine.')
  show(session, made)
}

const COLUMNS = {
  name: (plan: PlanShape) => plan.name,
  factor: (plan: PlanShape) => plan.factor,
  'own prices': (plan: PlanShape) => Object.keys(plan.prices).join(', '),
  'for new keys': (plan: SettingOptions) =>
    DEFAULTS.flatMap(({ name, field, shown }) => (plan[field] === null ? [] : `${name} ${shown(plan[field])}`)).join(
      ', ',
    ),
}

function show({ out, json }: Session, plan: PlanShape): void {
  if (json) printJson(out, plan)
  else printTable(out, [plan], COLUMNS)
}
