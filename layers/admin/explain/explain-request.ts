import { isoTime, ulidTimeMs } from '../../gateway/domain/basics/time.ts'
import { accountIdOf, type Hold, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { routeKey } from '../../gateway/domain/routing/route-order.ts'
import type { FailureReason } from '../../gateway/domain/routing/upstream-failure.ts'
import type { Attempt, UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { SWEEP_EVERY_MINUTES } from '../../gateway/names.ts'
import type { Explained } from '../api/shapes/requests.ts'
import { type Entry, explainCharge, explainCount } from './explain-charge.ts'

const SWEEP = `the sweep, every ${SWEEP_EVERY_MINUTES} minutes`

/** A row has no amounts of other keys; the message of the refusal had the balance. */
const EXHAUSTED =
  'the account had too little wherever its credits lay: in its pool, under way, and with each of its keys; all were looked at, or had been within the second before'

export function explainRequest(
  row: UsageRow,
  key: Key | undefined,
  nowMs: number,
  account: string | null = null,
): Explained[] {
  const open = key?.holds[row.requestId]
  const charge = [
    ...explainCharge(row),
    ...explainHold(row, open, nowMs),
    ...explainCount(row),
    ...explainAttempts(row),
  ]
  return [...factsOf(row, key, account).map(explained('facts')), ...charge.map(explained('charge'))]
}

export function explainOpenHold(requestId: string, key: Key, { amount, untilMs }: Hold, nowMs: number): Explained[] {
  const state =
    untilMs > nowMs
      ? 'no row yet: it is still running, or it has died; if it has, the sweep gives its hold back after that time'
      : `no row: it has died; ${SWEEP}, writes its row, free of charge, and gives its hold back`
  const facts: Entry[] = [
    ['request', requestId],
    ['started', isoTime(ulidTimeMs(requestId))],
    ['key', keyText(key.id, key)],
    ['held', `${formatCredits(amount)} until ${isoTime(untilMs)}`],
    ['state', state],
  ]
  return facts.map(explained('facts'))
}

function explained(part: Explained['part']): (entry: Entry) => Explained {
  return ([name, ...lines]) => ({ part, name, lines })
}

function factsOf(row: UsageRow, key: Key | undefined, account: string | null): Entry[] {
  const upstream = row.provider && `${row.provider}${row.upstreamModel ? `/${row.upstreamModel}` : ''}`
  const accountId = key && accountIdOf(key)
  const firstToken = row.ttftMs === undefined ? '' : `, the first token after ${row.ttftMs} ms`
  const all: (readonly [string, string | undefined])[] = [
    ['request', row.requestId],
    ['started', isoTime(row.startedAtMs)],
    ['key', keyText(row.keyId, key)],
    ['account', accountId && `${accountId} (${account ?? 'gone'})`],
    ['user', row.user && `${row.user} (as the caller says)`],
    ['tags', row.tags && tagTexts(row.tags).join(', ')],
    ['endpoint', row.stream ? `${row.endpoint}, streamed` : row.endpoint],
    ['model', row.model && upstream ? `${row.model} → ${upstream}` : row.model],
    [
      'fallback',
      row.fallbackModel && `the model ${row.fallbackModel} answered in its place, at the price of ${row.model}`,
    ],
    ['max tokens', loweredText(row)],
    ['finish reason', row.finishReason],
    ['stop reason', row.stopReason && `${row.stopReason}: we do not know this name, and ended the answer like stop`],
    ['left out', row.droppedFields && `${row.droppedFields}: the catalog tells not to send them`],
    ['status', row.httpStatus === 0 ? 'none: no answer was sent' : String(row.httpStatus)],
    ['outcome', row.outcome],
    ['error', row.errorCode],
    ['balance', accountId && row.errorCode === 'credit_balance_exhausted' ? EXHAUSTED : undefined],
    ['took', `${row.durationMs} ms${firstToken}`],
  ]
  return all.filter((entry): entry is readonly [string, string] => entry[1] !== undefined)
}

function loweredText({ askedMaxTokens, loweredMaxTokens, model }: UsageRow): string | undefined {
  if (loweredMaxTokens === undefined) return undefined
  if (askedMaxTokens === undefined)
    return `lowered to ${loweredMaxTokens}, the most that its credits and limits covered`
  return `lowered to ${loweredMaxTokens}, the most that ${model} generates; ${askedMaxTokens} were asked for`
}

function keyText(id: string, key: Key | undefined): string {
  return key ? `${id} (${key.name})` : `${id} (there is no such key any more)`
}

function explainHold(row: UsageRow, open: Hold | undefined, nowMs: number): Entry[] {
  if (open)
    return [['held', `${formatCredits(open.amount)} at admission, and still: ${whyStillHeld(row, open, nowMs)}`]]
  if (row.hold === 0n) return [['held', 'nothing']]
  return [['held', `${formatCredits(row.hold)} at admission, ${formatCredits(row.hold - row.cost)} given back`]]
}

function whyStillHeld({ cost }: UsageRow, { untilMs }: Hold, nowMs: number): string {
  const then = `${formatCredits(cost)} will be taken and the rest given back`
  return untilMs > nowMs
    ? `not settled yet; ${then}, at the latest by the sweep after ${isoTime(untilMs)}`
    : `not settled, and its time was over at ${isoTime(untilMs)}; ${then} by ${SWEEP}`
}

function explainAttempts({ attempts }: UsageRow): Entry[] {
  if (attempts.length === 0) return []
  const said = attempts.flatMap((attempt, i) => (attempt.said ? [`${i + 1}. ${attempt.said}`] : []))
  const lines = attempts.map((attempt, i) => `${i + 1}. ${attemptText(attempt)}`)
  return [['attempts', ...lines], ...(said.length > 0 ? [['provider said', ...said] as const] : [])]
}

/** DynamoDB gives them in any order. */
export function tagTexts(tags: NonNullable<UsageRow['tags']>): string[] {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
}

export function attemptText({ result, ms, ...route }: Attempt): string {
  return `${routeKey(route)}: ${result} after ${ms} ms`
}

const RESULTS: Readonly<Record<FailureReason | 'ok' | 'beyond_cap' | 'open', string>> = {
  ok: 'answered',
  beyond_cap: 'answered beyond its output cap, and was cut there',
  open: 'not ended',
  connect: 'could not be reached',
  timeout: 'did not answer in time',
  deadline: 'was stopped at the time limit of the request',
  reset: 'broke the connection',
  status: 'answered with an error',
  rate_limit: 'is rate limiting us',
  credential: 'refused our credential',
  forbidden: 'refused the content or our account',
  model_not_found: 'does not know the model',
  too_large: 'found the request too large',
  rejected: 'refused the request as invalid',
  unsupported: 'does not support this request',
  protocol: 'answered in a form that is not its own',
  error_event: 'sent an error in its stream',
  empty: 'answered nothing',
  runaway: 'did not stop',
}

export function attemptWords({ result }: Pick<Attempt, 'result'>): string {
  const [reason = ''] = result.split(' ')
  return Object.hasOwn(RESULTS, reason) ? RESULTS[reason as keyof typeof RESULTS] : result
}
