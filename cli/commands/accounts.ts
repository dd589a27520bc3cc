import type { AccountDetail, AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import { ACCOUNT_FIELDS } from '../../layers/admin/settings/account-fields.ts'
import { ACCOUNT_FIELD_NAMES, ACCOUNT_WORDS } from '../../layers/admin/settings/account-words.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money/money.ts'
import { fields, printFields, printJson, printList, printTable, summed, sums } from '../../layers/terminal/output.ts'
import {
  checkedBy,
  option,
  type SettingOption,
  type SettingOptions,
  settingsOf,
  someExternalId,
  usually,
} from './arguments.ts'
import { BEGIN_OPTIONS, changing, grantCommands, updateCommand } from './keys.ts'
import { keyAt, lastUsed, NAME_COLUMNS } from './one-key.ts'
import type { CommandRow, Session } from './open-session.ts'

const FLAGS = [
  { flag: '--hide-balance', field: 'hides_balance', isSet: true, words: 'do not tell its keys its balance' },
  { flag: '--show-balance', field: 'hides_balance', isSet: false, words: 'tell its keys its balance again' },
  { flag: '--show-statements', field: 'shows_statements', isSet: true, words: 'let its keys read its statements' },
  { flag: '--hide-statements', field: 'shows_statements', isSet: false, words: 'no longer let them read those' },
]

const NEW = accountSettings(true)

export const ACCOUNTS: CommandRow = {
  words: 'customers with several keys and one balance; an account is named by its id, name or external id',
  commands: {
    create: {
      words: 'make an account',
      options: [...NEW.map((setting) => setting.option), ...BEGIN_OPTIONS],
      work: createAction,
    },
    list: {
      words: 'every account, newest first',
      options: [option('--external-id <id>', 'only the account with this id of yours', someExternalId)],
      work: listAction,
    },
    'show <account>': {
      words: 'one account, where its credits lie, and its keys',
      work: async (session: Session, _: object, id: string) => show(session, await keyAt(session, id)),
    },
    'update <account>': updateCommand(
      'change an account; an empty text takes a setting away',
      accountSettings(false),
      '--notify-below 5',
    ),
    ...grantCommands('account'),
    'suspend <account>': { words: 'refuse every key of it from the next request on', work: changing('suspend') },
    'resume <account>': { words: 'admit the keys again that were suspended with it', work: changing('resume') },
    'close <account>': { words: 'end an account and its keys for good', work: changing('close') },
  },
}

function accountSettings(isNew: boolean): SettingOption[] {
  const texts = ACCOUNT_FIELD_NAMES.filter((field) => ACCOUNT_WORDS[field].kind !== 'flag').map((field) => {
    const { kind, words } = ACCOUNT_WORDS[field]
    const isName = field === 'name'
    const valueIn = (text: string) => (text === '' && !isName ? null : text)
    const told = isNew && !isName ? usually(words, field === 'notify_below' ? 'never' : 'none') : words
    const made = option(`--${field.replaceAll('_', '-')} <${kind}>`, told, checkedBy(ACCOUNT_FIELDS[field], valueIn))
    return { field, option: made.makeOptionMandatory(isNew && isName), valueIn }
  })
  const flags = FLAGS.filter(({ isSet }) => isSet || !isNew).map(({ field, isSet, flag, words }) => {
    return { field, option: option(flag, words), valueIn: () => isSet }
  })
  const shown = (value: unknown) => String(value ?? 'none')
  return [...texts, ...flags].map((setting) => ({ ...setting, name: setting.field, shown }))
}

type CreateOptions = SettingOptions & { readonly name: string; readonly credits: Nano; readonly reference?: string }

async function createAction(session: Session, options: CreateOptions): Promise<void> {
  const { credits, reference, name } = options
  const amount = formatCredits(credits)
  await session.confirm(() => `create an account (${name}) with ${amount} credits`)
  const body = { ...settingsOf(NEW, options, session.nowMs), credits: amount, reference }
  show(session, await session.admin.once<AccountDetail>('/accounts', body))
}

async function listAction(session: Session, { externalId: external_id }: { externalId?: string }): Promise<void> {
  printList(session, await session.admin.list<AccountShape>('/accounts', { external_id }), {
    ...NAME_COLUMNS,
    ...fields('external_id'),
    keys: summed((account) => account.key_count),
    available: summed((account) => account.available),
    held: { of: (account) => account.held, isSummed: true, isSpare: true },
    spent: summed((account) => account.spent),
  })
}

function show({ out, json, nowMs }: Session, account: AccountDetail) {
  if (json) return printJson(out, account)
  const set = ACCOUNT_FIELD_NAMES.filter((field) => account[field] !== null && account[field] !== false)
  printFields(out, account, (account) => ({
    id: account.id,
    status: account.status,
    ...Object.fromEntries(set.map((field) => [ACCOUNT_WORDS[field].label.toLowerCase(), String(account[field])])),
    granted: account.granted,
    available: `${account.available} (${account.in_pool} in the pool, ${account.in_keys} with its keys, ${account.in_flight} under way)`,
    held: account.held,
    spent: account.spent,
    'spent in a week': account.week_cost,
    created: account.created_at,
    keys: account.keys.length,
  }))
  out.log('')
  printTable(out, account.keys, {
    ...NAME_COLUMNS,
    key: (key) => `…${key.last_four}`,
    ...sums('available', 'held', 'spent'),
    'last used': lastUsed(nowMs),
  })
}
