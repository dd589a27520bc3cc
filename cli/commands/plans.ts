import { readFile } from 'node:fs/promises'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { PlanShape } from '../../layers/admin/api/shapes/catalog.ts'
import { factor, PLAN_DEFAULTS, planName } from '../../layers/admin/settings/setting-fields.ts'
import { jsonFault } from '../../layers/gateway/domain/basics/json-fault.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { printValue } from '../../layers/terminal/output.ts'
import { printList } from '../../layers/terminal/table.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { argument, keySettings, option, required, type SettingOptions, settingsOf } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'

const DEFAULTS = keySettings(false).filter(({ field }) => Object.hasOwn(PLAN_DEFAULTS, field))
const OPTIONS = [
  option('--factor <factor>', 'times the prices of the catalog: 0.0001 to 100, at most 4 decimals', argument(factor)),
  option('--prices <file>', 'prices of its own in JSON: by the model, as in a catalog, or null for none'),
  ...DEFAULTS.map((setting) => setting.option),
]
type PlanOptions = SettingOptions & { readonly prices?: string }

export const PLANS: CommandRow = {
  words: 'prices for some keys and accounts, and limits for the keys that are made with them',
  commands: {
    create: {
      words: 'make a plan',
      options: [required('--name <name>', 'its name, for good', argument(planName)), ...OPTIONS],
      work: (session: Session, { name, ...options }: PlanOptions & { name: string }) =>
        change(session, `create the plan ${name}`, options, (body) => session.admin.once('/plans', { name, ...body })),
    },
    list: { words: 'every plan, by name', work: listAction },
    'show <plan>': {
      words: 'one plan',
      work: async (session: Session, _: object, name: string) => show(session, await planAt(session, name)),
    },
    'update <plan>': {
      words: 'change a plan; its prices hold within 30 seconds everywhere, at once on one machine',
      options: OPTIONS,
      async work(session: Session, options: PlanOptions, name: string) {
        if (Object.keys(options).length === 0) throw new CliError('Say what to change, for example --factor 1.2.')
        const { version } = await planAt(session, name)
        const send = (body: object) => session.admin.change<PlanShape>('PATCH', pathOf(name), body, version)
        await change(session, `update the plan ${name}`, options, send)
      },
    },
  },
}

const pathOf = (name: string) => `/plans/${encodeURIComponent(name)}`
const planAt = ({ admin }: Session, name: string) => admin.get<PlanShape>(pathOf(name))

async function change(
  session: Session,
  what: string,
  options: PlanOptions,
  send: (body: object) => Promise<PlanShape>,
) {
  const prices = options.prices === undefined ? undefined : await readPrices(options.prices)
  const body = { factor: options.factor, prices, ...settingsOf(DEFAULTS, options, session.nowMs) }
  await session.confirm(() => what)
  const made = await send(body).catch(async (error: unknown) => {
    if (!(error instanceof Refusal && error.code === 'below_cost')) throw error
    session.out.error(`warning: ${error.message.replace(/\n.*$/, '')}`)
    await session.confirm(() => `${what}, and sell below cost`, true)
    return send({ ...body, below_cost: true })
  })
  session.out.error('Its prices hold within 30 seconds everywhere, and at once on one machine.')
  show(session, made)
}

async function readPrices(file: string): Promise<object> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new CliError(`The prices '${file}' cannot be read (${code}).`)
  })
  try {
    return JSON.parse(text) as object
  } catch {
    throw new CliError(`The prices '${file}' are not JSON: ${jsonFault(text)}.`)
  }
}

async function listAction(session: Session): Promise<void> {
  printList(session, await session.admin.get<List<PlanShape>>('/plans'), {
    name: (plan) => plan.name,
    factor: (plan) => plan.factor,
    'own prices': (plan) => Object.keys(plan.prices).join(', '),
    'for new keys': defaultsOf,
  })
}

function show(session: Session, plan: PlanShape): void {
  const prices = Object.entries(plan.prices).map(([model, price]) => `${model} costs ${JSON.stringify(price)}`)
  const defaults = defaultsOf(plan)
  const lines = [`${plan.name}: × ${plan.factor}`, ...prices, ...(defaults ? [`for new keys: ${defaults}`] : [])]
  printValue(session, plan, lines.join('\n  '))
}

function defaultsOf(plan: PlanShape): string {
  const set = DEFAULTS.filter(({ field }) => (plan as SettingOptions)[field] !== null)
  return set.map(({ name, field, shown }) => `${name} ${shown((plan as SettingOptions)[field])}`).join(', ')
}
