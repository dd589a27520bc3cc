import { useEffect, useState } from 'preact/hooks'
import type { AccountShape, AccountStatus } from '../../layers/admin/api/shapes/accounts.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { zone } from '../preferences.ts'
import { linkTo, placeOf } from '../router.ts'
import { counted, countOf, durationText, shortAmount } from './numbers.ts'

/** An amount, short; exact when it is pointed at and when it is copied. Nothing here computes with one. */
export function Credits({ of, withUnit = false }: { readonly of: string; readonly withUnit?: boolean }) {
  const copied = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', of)
    event.preventDefault()
  }
  return (
    <data class={of.startsWith('-') ? 'number bad-text' : 'number'} value={of} title={`${of} credits`} onCopy={copied}>
      {shortAmount(of)}
      {withUnit && <small> credits</small>}
    </data>
  )
}

export const STATES = ['active', 'suspended', 'expired', 'revoked'] as const satisfies readonly KeyShape['status'][]

export const CUSTOMER_STATES = ['active', 'suspended', 'closed'] as const satisfies readonly AccountStatus[]

export const BADGE_WORDS: Readonly<Record<string, string>> = {
  empty: 'no credits left',
  idle: 'not used for 90 days',
  no_allowlist: 'any address',
  low: 'runs dry soon',
}

const BAD = new Set(['empty', 'revoked', 'closed', 'expired', 'wrong', 'failing', 'failed', 'given up'])
const GOOD = new Set(['active', 'balanced', 'ok', 'told'])
const WARN = new Set(['suspended', 'low', 'idle', 'open', 'unstable'])

/** Most keys may be used from every address: that is told where it is asked for. */
export function attentionOf({ badges }: { readonly badges: readonly string[] }): readonly string[] {
  return badges.filter((badge) => badge !== 'no_allowlist')
}

export function State({ of }: { readonly of: KeyShape | AccountShape }) {
  const badges = [...(of.status === 'active' ? [] : [of.status]), ...attentionOf(of)]
  if (badges.length === 0) return <span class="quiet">active</span>
  return badges.map((badge) => <Badge key={badge} of={badge} />)
}

export function Badge({ of }: { readonly of: string }) {
  const kind = BAD.has(of) ? 'bad' : GOOD.has(of) ? 'good' : WARN.has(of) ? 'warn' : ''
  return <span class={`badge ${kind}`}>{BADGE_WORDS[of] ?? of}</span>
}

export function routeState(attempts: number, failures: number): string {
  if (attempts === 0) return 'not asked'
  if (failures > attempts / 2) return 'failing'
  return failures > attempts / 20 ? 'unstable' : 'ok'
}

type Ended = { readonly http_status: number; readonly outcome: string; readonly error_code: string | null }

export function Status({ of: { http_status: status, outcome, error_code: code } }: { readonly of: Ended }) {
  return [
    <span class={`badge ${kindOf(status, outcome)}`} title={outcome}>
      {status > 0 ? status : outcome}
    </span>,
    code && <small class="note">{code}</small>,
  ]
}

function kindOf(status: number, outcome: string): string {
  if (status >= 500 || outcome === 'upstream_error' || outcome === 'abandoned') return 'bad'
  return status >= 400 || status === 0 ? 'warn' : 'good'
}

type Named = { readonly id: string | null; readonly name?: string | null | undefined }

/** Only keys and customers have a page. */
export function NameLink({ id, name }: Named) {
  const shown = name || <code>{id}</code>
  return id && /^(key|acct)_/.test(id) ? <a href={linkTo(placeOf(id))}>{shown}</a> : shown
}

type Asked = Pick<RequestLine, 'key_id' | 'key_name' | 'account_id' | 'account_name'>

export function KeyName({ of }: { readonly of: Asked }) {
  const key = <NameLink id={of.key_id} name={of.key_name} />
  return of.account_id ? [key, ' of ', <NameLink id={of.account_id} name={of.account_name} />] : key
}

/** The last signs of an id are those that differ; all of it when it is pointed at. */
const SHORT = 6

export function RequestLink({ id, isShort = false }: { readonly id: string; readonly isShort?: boolean }) {
  return (
    <a href={linkTo(['requests', id])} title={id}>
      <code>{isShort ? `…${id.slice(-SHORT)}` : id}</code>
    </a>
  )
}

const SECOND_MS = 1000

type MomentProps = {
  readonly at: string | null
  readonly isBrief?: boolean
  /** It may be ahead. Everything else is over, even if the clock of this machine is behind. */
  readonly isEnd?: boolean
}

export function Moment({ at, isBrief, isEnd }: MomentProps) {
  const isUtc = zone.use() === 'utc'
  useNow(isBrief ? SECOND_MS * 5 : MINUTE_MS)
  if (at === null) return <span class="quiet">never</span>
  const ms = Date.parse(at) - Date.now()
  const away = distance(isEnd ? ms : Math.min(ms, 0), isBrief)
  return (
    <time dateTime={at} title={`${momentText(at, false)}\n${momentText(at, true)}`}>
      {!isBrief && `${momentText(at, isUtc)} `}
      {isBrief ? away : <span class="quiet">({away})</span>}
    </time>
  )
}

const aheadMsAt = (at: string) => -new Date(at).getTimezoneOffset() * MINUTE_MS

/** The day and the hour of the zone, in ISO's form. */
export function zonedText(at: string, isUtc: boolean): string {
  return new Date(Date.parse(at) + (isUtc ? 0 : aheadMsAt(at))).toISOString()
}

/** `2026-11-16 14:03:22 UTC`, or with the offset of this machine's zone: `2026-11-16 14:03:22 +01:00`. */
function momentText(at: string, isUtc: boolean): string {
  const offset = `${aheadMsAt(at) < 0 ? '−' : '+'}${new Date(Math.abs(aheadMsAt(at))).toISOString().slice(11, 16)}`
  return `${zonedText(at, isUtc).slice(0, 19).replace('T', ' ')} ${isUtc ? 'UTC' : offset}`
}

const UNITS = [
  ['day', 'd', DAY_MS],
  ['hour', 'h', HOUR_MS],
  ['minute', 'min', MINUTE_MS],
  ['second', 's', SECOND_MS],
] as const

function distance(ms: number, isBrief?: boolean): string {
  for (const [unit, short, size] of UNITS) {
    const count = Math.floor(Math.abs(ms) / size)
    if (count === 0) continue
    const text = isBrief ? `${count} ${short}` : countOf(count, unit)
    return ms < 0 ? `${text} ago` : `in ${text}`
  }
  return 'now'
}

/** One timer, however many parts use it: a page may have hundreds of moments. */
const listeners = new Set<(nowMs: number) => void>()
let isTicking = false

function tick(): void {
  for (const listener of listeners) listener(Date.now())
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    // A tick may come a little early.
    const heard = (nowMs: number) => setNow((last) => (nowMs - last > everyMs - SECOND_MS / 2 ? nowMs : last))
    listeners.add(heard)
    if (!isTicking) setInterval(tick, SECOND_MS)
    isTicking = true
    return () => void listeners.delete(heard)
  }, [everyMs])
  return now
}

export const DASH = <span class="quiet">–</span>

export function Took({ ms }: { readonly ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return DASH
  return <span title={`${counted(ms)} ms`}>{durationText(ms)}</span>
}
