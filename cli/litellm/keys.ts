import { MOST_TPM, SETTING_FIELDS } from '../../layers/admin/settings/setting-fields.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { WAYBILL } from '../../layers/terminal/how-to-run.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { at, type Exact, isObject, itemsAt, textAt } from '../reading/exact.ts'
import { looseMoment, scaledNumber, wholeNumberIn } from '../reading/numbers.ts'
import { LeftOut, type Omissions } from './omissions.ts'

/** The fields that are read, and facts about a key's past, which ask for nothing. */
const KNOWN = new RegExp(
  [
    '^(key_alias|key_name|token|models|max_budget|spend|budget_duration|[rt]pm_limit)$',
    '^(max_parallel_requests|expires|blocked|budget_limits|api_key)$',
    '^(created_|updated_|last_|rotation_count|budget_reset_at|model_spend|soft_budget_cooldown|object_permission_id)',
  ].join('|'),
)
/** LiteLLM's words for a day and for about a month. */
const WINDOWS: ReadonlyMap<string, string> = new Map([
  ...['1d', '24h', 'daily'].map((word) => [word, 'daily-credits'] as const),
  ...['30d', '1mo', 'monthly'].map((word) => [word, 'monthly-credits'] as const),
])
const NO_BUDGET = 'without a max_budget no credits are granted: grant what you are ready to lose'
const NO_LIST = ['all-team-models', 'no-default-models']

type Options = Readonly<Record<string, string>>

/** A `waybill keys create` for each key of an answer to `/key/list?return_full_object=true`. */
export function importKeys(list: Exact, nowMs: number, omissions: Omissions): readonly string[] {
  const keys = Array.isArray(list) ? list : at(list, 'keys')
  if (!Array.isArray(keys)) {
    throw new CliError("The keys are not in the form of LiteLLM's /key/list: there is no list 'keys'.")
  }
  if (!keys.every(isObject)) {
    throw new CliError('The keys are ids only. Ask LiteLLM for /key/list?return_full_object=true.')
  }
  const pages = wholeNumberIn(textAt(list, 'total_pages'), 0, 1_000_000) ?? 1
  if (pages > 1) omissions.add(`this is one page of ${pages}: give each page by a --keys of its own`)
  return keys.flatMap((key) => {
    const alias = textAt(key, 'key_alias') ?? textAt(key, 'key_name') ?? textAt(key, 'token')?.slice(0, 12) ?? ''
    const name = plainLine(alias.slice(0, 100)).trim() || 'imported'
    return omissions.unlessLeftOut(name, () => {
      const words = Object.entries(optionsOf(key, name, nowMs, omissions)).map(
        ([option, value]) => `--${option}=${shellWord(value)}`,
      )
      return `${WAYBILL} keys create ${words.join(' ')} "$@"`
    })
  })
}

type Omit = (what: string) => void

function optionsOf(key: Exact, name: string, nowMs: number, omissions: Omissions): Options {
  const omit = (what: string) => omissions.add(`key: ${what}`, name)
  const models = itemsAt(key, 'models').map((model) => textAt(model) ?? '')
  const listed = models.includes('all-proxy-models') ? [] : models
  const expires = textAt(key, 'expires')
  const expiresMs = looseMoment(expires ?? '') ?? 0
  const token = textAt(key, 'token') ?? ''
  if (at(key, 'blocked') === true) throw noKey('it is blocked')
  if (expires !== undefined && expiresMs <= nowMs) throw noKey('it has expired')
  if (models.some((model) => NO_LIST.includes(model))) throw noKey('its models are named by its team')
  if (!SETTING_FIELDS.models.safeParse(listed).success) throw noKey('its models are not a list that a key can have')
  omissions.addUnknown(key, KNOWN, 'key: ', name)
  return {
    name,
    ...(/^[0-9a-f]{64}$/.test(token) && { 'external-id': `litellm-${token.slice(0, 16)}` }),
    ...(listed.length > 0 && { models: listed.join(',') }),
    ...limitAt('rpm_limit', 'rpm', 60_000),
    ...limitAt('tpm_limit', 'tpm', MOST_TPM),
    ...limitAt('max_parallel_requests', 'concurrent', 1_000),
    ...(expires !== undefined && { expires: isoTime(expiresMs) }),
    ...budgetOf(key, omit),
    ...windowsOf(key, omit),
  }

  function limitAt(field: string, option: string, most: number): Options {
    const number = wholeNumberIn(textAt(key, field), 1, most)
    if (number !== undefined) return { [option]: String(number) }
    if (textAt(key, field) !== undefined) omit(`${field} must be a whole number from 1 to ${most}: the default holds`)
    return {}
  }
}

const noKey = (why: string) => new LeftOut(`no key is made, because ${why}`)

/** The rest of the budget is granted once, so no key can spend more than it could. */
function budgetOf(key: Exact, omit: Omit): Options {
  const [most, spent] = [nanoAt(key, 'max_budget'), textAt(key, 'spend') === undefined ? 0n : nanoAt(key, 'spend')]
  if (most === undefined || spent === undefined || most < 0n) {
    const isStated = textAt(key, 'max_budget') !== undefined
    omit(isStated ? 'its max_budget or its spend is no amount: no credits are granted' : NO_BUDGET)
    return {}
  }
  const duration = textAt(key, 'budget_duration')
  if (duration !== undefined) {
    const window = WINDOWS.get(duration)
    const becomes = window
      ? `is --${window}, of a UTC day or month, and its rest is granted once: grant more before it is spent`
      : 'has no window here: its rest is granted once'
    omit(`a budget of ${plainLine(duration, 20)} ${becomes}`)
  }
  return most > spent ? { credits: formatCredits(most - spent), reference: 'LiteLLM budget' } : {}
}

/** The windows of the key's own budget and of those in `budget_limits`. The smaller of two for one window holds. */
function windowsOf(key: Exact, omit: Omit): Options {
  const least = new Map<string, bigint>()
  for (const budget of [key, ...itemsAt(key, 'budget_limits')]) {
    const window = WINDOWS.get(textAt(budget, 'budget_duration') ?? '')
    const most = nanoAt(budget, 'max_budget') ?? 0n
    if (window !== undefined && most > 0n) {
      if (most < (least.get(window) ?? most + 1n)) least.set(window, most)
    } else if (budget !== key) omit('an entry of budget_limits has no window here, or no amount')
  }
  return Object.fromEntries([...least].map(([window, most]) => [window, formatCredits(most)]))
}

/** The amount is rounded down, where `scaledNumber` rounds up. */
function nanoAt(value: Exact, field: string): bigint | undefined {
  const atto = scaledNumber(textAt(value, field), 18)
  return atto === undefined ? undefined : atto / 10n ** 9n
}
