import { Option } from 'commander'
import type { AccountDetail, AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { UpdateAccountBody } from '../../layers/admin/api/shapes/bodies.ts'
import { ACCOUNT_FIELDS } from '../../layers/admin/settings/account-fields.ts'
import { ACCOUNT_FIELD_NAMES, ACCOUNT_WORDS, type AccountField } from '../../layers/admin/settings/account-words.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money/money.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { printFields, printJson } from '../../layers/terminal/output.ts'
import { printList, printTable, summed } from '../../layers/terminal/table.ts'
import * as args from './arguments.ts'
import { option } from './arguments.ts'
import { changing, grantCommands, referenceOption } from './keys.ts'
import { changeLine, keyAt, lastUse, NAME_COLUMNS, pathOf, showChange } from './one-key.ts'
import type { Session } from './open-session.ts'
import type { CommandRow } from './run.ts'

type Options = Readonly<Record<string, unknown>> & {
  readonly name: string
  readonly hideBalance?: boolean
  readonly showBalance?: boolean
}

const TEXTS = ACCOUNT_FIELD_NAMES.filter((field) => ACCOUNT_WORDS[field].kind !== 'flag')

const flagOf = (field: AccountField) => `--${field.replaceAll('_', '-')}`
const typed = (field: AccountField, text: string) => (text === '' && field !== 'name' ? null : text)

export const ACCOUNTS: CommandRow = {
  words: 'customers with several keys and one balance; an account is named by its id, name or external id',
  commands: {
    create: {
      words: 'make an account',
      options: [
        ...settingOptions(true),
        // Commander cannot print a bigint in its help.
        option('--credits <credits>', 'credits to begin with', args.credits).default(0n, '0'),
        referenceOption('the payment behind the credits, such as an invoice'),
      ],
      work: createAction,
    },
    list: {
      words: 'every account, newest first',
      options: [option('--external-id <id>', 'only the account with this id of yours', args.someExternalId)],
      work: listAction,
    },
    'show <account>': {
      words: 'one account, where its credits lie, and its keys',
      work: async (session: Session, _: object, id: string) => show(session, await accountAt(session, id)),
    },
    'update <account>': {
      words: 'change an account; an empty text takes a setting away',
      options: settingOptions(false),
      check(options: Options) {
        if (Object.keys(settingsOf(options)).length > 0) return
        throw new CliError('Say what to change, for example --notify-below 5.')
      },
      work: updateAction,
    },
    ...grantCommands('account'),
    'suspend <account>': { words: 'refuse every key of it from the next request on', work: changing('suspend') },
    'resume <account>': { words: 'admit the keys again that were suspended with it', work: changing('resume') },
    'close <account>': { words: 'end an account and its keys for good', work: changing('close') },
  },
}

function settingOptions(isNew: boolean): Option[] {
  const texts = TEXTS.map((field) => {
    const made = option(
      `${flagOf(field)} <${ACCOUNT_WORDS[field].kind}>`,
      ACCOUNT_WORDS[field].words,
      args.checkedBy(ACCOUNT_FIELDS[field], (text) => typed(field, text)),
    )
    return made.makeOptionMandatory(isNew && field === 'name')
  })
  const shows = option('--show-balance', 'tell its keys its balance again')
  return [...texts, option('--hide-balance', 'do not tell its keys its balance'), ...(isNew ? [] : [shows])]
}

function settingsOf(options: Options): UpdateAccountBody {
  const texts = TEXTS.flatMap((field) => {
    const text = options[new Option(flagOf(field)).attributeName()]
    return typeof text === 'string' ? [[field, typed(field, text)]] : []
  })
  const { hideBalance, showBalance } = options
  return { ...Object.fromEntries(texts), ...((hideBalance || showBalance) && { hides_balance: !showBalance }) }
}

const accountAt = (session: Session, id: string) => keyAt<AccountDetail>(session, id)

async function createAction(session: Session, options: Options & { credits: Nano; reference?: string }): Promise<void> {
  const { credits, reference, name } = options
  const amount = formatCredits(credits)
  await session.confirm(() => `create an account (${name}) with ${amount} credits`)
  const body = { ...settingsOf(options), credits: amount, reference }
  show(session, await session.admin.once<AccountDetail>('/accounts', body))
}

async function listAction(session: Session, { externalId: external_id }: { externalId?: string }): Promise<void> {
  printList(session, await session.admin.list<AccountShape>('/accounts', { external_id }), {
    ...NAME_COLUMNS,
    'external id': (account) => account.external_id,
    keys: summed((account) => account.key_count),
    available: summed((account) => account.available),
    held: { of: (account) => account.held, isSummed: true, isSpare: true },
    spent: summed((account) => account.spent),
  })
}

async function updateAction(session: Session, options: Options, id: string): Promise<void> {
  const settings = settingsOf(options)
  const before = await accountAt(session, id)
  await session.confirm(() => `update ${id} (${before.name}) (${Object.keys(settings).join(', ')})`)
  const after = await session.admin.change<AccountDetail>('PATCH', pathOf(id), settings, before.version)
  const changes = ACCOUNT_FIELD_NAMES.filter((field) => before[field] !== after[field])
  showChange(
    session,
    after,
    changes.map((field) => changeLine(field, String(before[field] ?? 'none'), String(after[field] ?? 'none'))),
  )
}

function show({ out, json, nowMs }: Session, account: AccountDetail) {
  if (json) return printJson(out, account)
  const set = ACCOUNT_FIELD_NAMES.filter((field) => account[field] !== null && account[field] !== false)
  const { in_pool, in_flight, in_keys } = account
  printFields(out, {
    id: account.id,
    status: account.status,
    ...Object.fromEntries(set.map((field) => [ACCOUNT_WORDS[field].label.toLowerCase(), String(account[field])])),
    granted: account.granted,
    available: `${account.available} (${in_pool} in the pool, ${in_keys} with its keys, ${in_flight} under way)`,
    held: account.held,
    spent: account.spent,
    'spent in a week': account.week_cost,
    created: account.created_at,
  })
  out.log('')
  printTable(out, account.keys, {
    ...NAME_COLUMNS,
    key: (key) => `…${key.last_four}`,
    available: summed((key) => key.available),
    held: summed((key) => key.held),
    spent: summed((key) => key.spent),
    'last used': (key) => lastUse(key, nowMs),
  })
}
