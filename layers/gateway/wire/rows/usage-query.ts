import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import { DAY_MS, isRequestId, MOMENT_WORDS, readMoment, utcDay } from '../../domain/basics/time.ts'
import { latestRowMs, momentsOf } from '../../domain/rows/closed-day.ts'
import { closest } from '../basics/closest.ts'
import { badField, type Wanted } from '../basics/field-rules.ts'

export const USAGE_GROUPS = ['day', 'model'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

type Given = {
  from?: number
  to?: number
  model?: string
  limit?: number
  after?: string
  group?: UsageGroup
  calls?: 'all'
}
export type UsageParameter = keyof Given

type Rule = { readonly wanted: Wanted; readonly read: (text: string) => string | number | undefined }

export const MOST_LISTED = 100
export const USUALLY_LISTED = 20
/** The longest ranges: of a list, and of sums, whose closed days are one read each. */
export const MOST_DAYS = { listed: 31, summed: 92 } as const
/** Sums begin with the first of so many UTC days if there is no `from`. */
const USUALLY_SUMMED = 31
const MOST_MODEL_CHARS = 200

const moment: Rule = { wanted: MOMENT_WORDS, read: readMoment }
const RULES: Readonly<Record<UsageParameter, Rule>> = {
  from: moment,
  to: moment,
  model: {
    wanted: `the id of a model, of at most ${MOST_MODEL_CHARS} characters`,
    read: (text) => (text !== '' && text.length <= MOST_MODEL_CHARS ? text : undefined),
  },
  limit: {
    wanted: `an integer between 1 and ${MOST_LISTED}`,
    read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MOST_LISTED ? Number(text) : undefined),
  },
  after: { wanted: 'the last_id of the page before', read: (text) => (isRequestId(text) ? text : undefined) },
  group: { wanted: USAGE_GROUPS, read: (text) => USAGE_GROUPS.find((group) => group === text) },
  calls: { wanted: ['all'], read: (text) => (text === 'all' ? text : undefined) },
}
export const USAGE_PARAMETERS = Object.keys(RULES) as UsageParameter[]
const OF_LIST: readonly UsageParameter[] = ['limit', 'after', 'calls']

export type UsageQuery = Pick<Given, 'model' | 'after' | 'group' | 'calls'> & {
  readonly range: { readonly fromMs: number; readonly toMs: number }
  readonly limit: number
}

/** The query of GET /v1/usage. Throws a GatewayError that names the parameter which is wrong. */
export function readUsageQuery(rawQueryString: string, nowMs: number): UsageQuery {
  const given = readGiven(rawQueryString)
  const { from: _, to: __, limit = USUALLY_LISTED, ...asked } = given
  const beside = asked.group === undefined ? undefined : OF_LIST.find((name) => given[name] !== undefined)
  if (beside) throw badRequest('invalid_value', `'${beside}' is for the list, and 'group' asks for sums.`, beside)
  return { range: rangeOf(given, nowMs), limit, ...asked }
}

function readGiven(rawQueryString: string): Given {
  const given: Record<string, string | number> = {}
  for (const [name, text] of new URLSearchParams(rawQueryString)) {
    const rule = Object.hasOwn(RULES, name) ? RULES[name as UsageParameter] : undefined
    if (!rule) throw unknown(name)
    if (Object.hasOwn(given, name)) throw badRequest('invalid_value', `'${name}' is given twice.`, name)
    const value = rule.read(text)
    if (value === undefined) throw wrong(name, rule.wanted, text)
    given[name] = value
  }
  return given as Given
}

/** A query has no prompt in it, and a key is longer. */
function wrong(name: string, wanted: Wanted, text: string): GatewayError {
  if (typeof wanted !== 'string' || text === '' || text.length > 30) return badField(name, wanted, text)
  return badRequest('invalid_value', `'${name}' must be ${wanted}, but got '${plainLine(text)}'.`, name)
}

function unknown(name: string): GatewayError {
  const near = closest(name, USAGE_PARAMETERS)
  const meant = near === undefined ? '' : ` Did you mean '${near}'?`
  const message = `There is no parameter '${plainLine(name, 60)}'.${meant} The parameters are ${USAGE_PARAMETERS.join(', ')}.`
  return badRequest('unknown_parameter', message, name)
}

/** A row may be of a clock that is ahead of this one; later than that there are none to look for. */
function rangeOf({ from, to, group }: Given, nowMs: number): UsageQuery['range'] {
  const endMs = to ?? nowMs
  const mostDays = group === undefined ? MOST_DAYS.listed : MOST_DAYS.summed
  const usualMs =
    group === undefined
      ? endMs - mostDays * DAY_MS
      : momentsOf(utcDay(endMs - 1 - (USUALLY_SUMMED - 1) * DAY_MS)).fromMs
  const fromMs = from ?? Math.max(0, usualMs)
  if (fromMs >= endMs)
    throw badRequest('invalid_value', "'from' must be before 'to', which is now unless given.", 'from')
  if (endMs - fromMs > mostDays * DAY_MS) {
    const ofSums = group === undefined ? '' : ' of sums'
    throw badRequest('invalid_value', `The range${ofSums} may have at most ${mostDays} days.`, 'from')
  }
  return { fromMs, toMs: Math.min(to ?? Infinity, latestRowMs(nowMs)) }
}
