import { SETTING_FIELDS } from '../../layers/admin/settings/setting-fields.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { WAYBILL } from '../../layers/terminal/how-to-run.ts'
import { at, type Exact, isObject, itemsAt, textAt } from '../reading/exact-json.ts'
import { scaledNumber, wholeNumberIn } from '../reading/exact-number.ts'
import { LeftOut, type Said } from './said.ts'

/** The fields that are read, and facts about a key's past, which ask for nothing. */
const KNOWN = new RegExp(
  [
    '^(key_alias|key_name|token|models|max_budget|spend|budget_duration|rpm_limit)$',
    '^(max_parallel_requests|expires|blocked|budget_limits|api_key)$',
    '^(created_|updated_|last_|rotation_count|budget_reset_at|model_spend|soft_budget_cooldown|object_permission_id)',
  ].join('|'),
)
const PLACES = 9
/** LiteLLM's words for a day and for about a month. */
const WINDOWS: ReadonlyMap<string, string> = new Map([
  ...['1d', '24h', 'daily'].map((word) => [word, 'daily-credits'] as const),
  ...['30d', '1mo', 'monthly'].map((word) => [word, 'monthly-credits'] as const),
])
const ALL_MODELS = 'all-proxy-models'
const NO_LIST = ['all-team-models', 'no-default-models']

type Options = Readonly<Record<string, string>>

/** A `waybill keys create` for each key of an answer to `/key/list?return_full_object=true`. */
export function importKeys(list: Exact, nowMs: number, said: Said): readonly string[] {
  const keys = Array.isArray(list) ? list : at(list, 'keys')
  if (!Array.isArray(keys))
    throw new CliError("The keys are not in the form of LiteLLM's /key/list: there is no list 'keys'.")
  if (!keys.every(isObject)) {
    throw new CliError('The keys are ids only. Ask LiteLLM for /key/list?return_full_object=true.')
  }
  const pages = wholeNumberIn(textAt(list, 'total_pages'), 0, 1_000_000) ?? 1
  if (pages > 1) said.say(`this is one page of ${pages}: give each page by a --keys of its own`)
  return keys.flatMap((key) => {
    const alias = textAt(key, 'key_alias') ?? textAt(key, 'key_name') ?? textAt(key, 'token')?.slice(0, 12) ?? ''
    const name = plainLine(alias.slice(0, 100)).trim() || 'imported'
    return said.unlessLeftOut(name, () => commandOf(optionsOf(key, name, nowMs, said)))
  })
}

function optionsOf(key: Exact, name: string, nowMs: number, said: Said): Options {
  const text = (name: string) => textAt(key, name)
  const models = itemsAt(key, 'models').map((model) => textAt(model) ?? '')
  const expires = text('expires')
  const expiresMs = expires === undefined ? undefined : momentOf(expires)
  const token = text('token')
  if (at(key, 'blocked') === true) throw noKey('it is blocked')
  if (expires !== undefined && !((expiresMs ?? 0) > nowMs)) throw noKey('it has expired')
  if (models.some((model) => NO_LIST.includes(model))) throw noKey('its models are named by its team')
  const listed = models.includes(ALL_MODELS) ? [] : models
  if (!SETTING_FIELDS.models.safeParse(listed).success) throw noKey('its models are not a list that a key can have')
  said.sayOthers(key, KNOWN, 'key: ', name)
  return {
    name,
    ...(/^[0-9a-f]{64}$/.test(token ?? '') && { 'external-id': `litellm-${token?.slice(0, 16)}` }),
    ...(listed.length > 0 && { models: listed.join(',') }),
    ...limit('rpm_limit', 'rpm', 60_000),
    ...limit('max_parallel_requests', 'concurrent', 1_000),
    ...(expiresMs !== undefined && { expires: new Date(expiresMs).toISOString() }),
    ...budget(),
    ...windows(),
  }

  function limit(field: string, option: string, most: number): Options {
    const number = wholeNumberIn(text(field), 1, most)
    if (number !== undefined) return { [option]: String(number) }
    if (text(field) !== undefined)
      said.say(`key: ${field} must be a whole number from 1 to ${most}: the default holds`, name)
    return {}
  }

  /** The rest of the budget is granted once, so no key can spend more than it could. Rounded down. */
  function budget(): Options {
    const [most, spent] = [nanoOf(text('max_budget')), nanoOf(text('spend') ?? '0')]
    if (text('max_budget') === undefined) {
      said.say('key: without a max_budget no credits are granted: grant what you are ready to lose', name)
      return {}
    }
    if (most === undefined || spent === undefined || most < 0n) {
      said.say('key: its max_budget or its spend is no amount: no credits are granted', name)
      return {}
    }
    const duration = text('budget_duration')
    if (duration !== undefined) {
      const window = WINDOWS.get(duration)
      const becomes = window
        ? `is --${window}, of a UTC day or month, and its rest is granted once: grant more before it is spent`
        : 'has no window here: its rest is granted once'
      said.say(`key: a budget of ${plainLine(duration, 20)} ${becomes}`, name)
    }
    const rest = most > spent ? most - spent : 0n
    return rest > 0n ? { credits: formatCredits(rest), reference: 'LiteLLM budget' } : {}
  }

  /** Of the key's own budget and of those in `budget_limits`. Of two for one window the smaller holds. */
  function windows(): Options {
    const least = new Map<string, bigint>()
    for (const one of [key, ...itemsAt(key, 'budget_limits')]) {
      const window = WINDOWS.get(textAt(one, 'budget_duration') ?? '')
      const most = nanoOf(textAt(one, 'max_budget'))
      if (window !== undefined && most !== undefined && most > 0n) {
        if (most < (least.get(window) ?? most + 1n)) least.set(window, most)
      } else if (one !== key) said.say('key: an entry of budget_limits has no window here, or no amount', name)
    }
    return Object.fromEntries([...least].map(([window, most]) => [window, formatCredits(most)]))
  }
}

const noKey = (why: string) => new LeftOut(`no key is made, because ${why}`)

/** Rounded down, where `scaledNumber` rounds up. */
function nanoOf(text: string | undefined): bigint | undefined {
  const scaled = scaledNumber(text, PLACES + PLACES)
  return scaled === undefined ? undefined : scaled / 10n ** BigInt(PLACES)
}

/** A time without a zone is in UTC. */
function momentOf(text: string): number | undefined {
  const ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) ? undefined : ms
}

function commandOf(options: Options): string {
  const words = Object.entries(options).map(([name, value]) => `--${name}=${shellWord(value)}`)
  return `${WAYBILL} keys create ${words.join(' ')} "$@"`
}
