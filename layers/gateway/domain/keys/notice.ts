import { COUNTER_NAMES, COUNTERS, CREDIT_COUNTERS, windowOf } from '../admission/counters.ts'
import type { AdmissionRefusal } from '../basics/gateway-error.ts'
import { DAY_MS, isoTime } from '../basics/time.ts'
import { formatCredits, type Nano } from '../money/money.ts'
import { isAccountId, type Key } from './key.ts'

/** The limits of credits and of loss, each of which is told once when it is reached. */
const CREDIT_REFUSALS = [
  'credit_balance_exhausted',
  ...[...CREDIT_COUNTERS, 'dailyLoss' as const].map((name) => COUNTERS[name].refusal),
] as const
export type CreditRefusal = (typeof CREDIT_REFUSALS)[number]

export const STATUS_NOTICES = { suspended: 'key.suspended', revoked: 'key.revoked' } as const

export const NOTICE_KINDS = [
  'account.balance_low',
  'account.credit_balance_exhausted',
  'key.balance_low',
  ...CREDIT_REFUSALS.map((refusal) => `key.${refusal}` as const),
  'key.expires_soon',
  ...Object.values(STATUS_NOTICES),
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

export type Facts = Readonly<Record<string, string>>

/** Under the same id whenever it is told; the id has its time. */
export type Notice = { readonly id: string; readonly what: NoticeKind; readonly facts: Facts }

/** A key, or an account with all that its purses have. */
export type Owner = Pick<Key, 'id' | 'name' | 'externalId' | 'status' | 'notifyBelow' | 'expiresAtMs' | 'purse'> &
  Pick<Key, 'granted' | 'available' | 'spent'>

export type Watched = {
  readonly key: Owner
  readonly spentAtGrant: Nano
  readonly creditRefusal: Readonly<Partial<Record<CreditRefusal, string>>>
  readonly told: Readonly<Partial<Record<NoticeKind, string>>>
}

/** A notice that is due. Its mark is another one whenever it is due again. */
export type DueNotice = { readonly what: NoticeKind; readonly mark: string; readonly facts: Facts }

export const EXPIRY_NOTICE_MS = 7 * DAY_MS

export const isCreditRefusal = (refusal: AdmissionRefusal): refusal is CreditRefusal =>
  CREDIT_REFUSALS.some((one) => one === refusal)

/** Stands for what ran out: all that was granted, or a window with its limit. */
export function creditRefusalMark(key: Key, refusal: CreditRefusal, nowMs: number, limit?: Nano): string {
  const name = COUNTER_NAMES.find((one) => COUNTERS[one].refusal === refusal)
  return name ? `${windowOf(COUNTERS[name], nowMs)}/${limit ?? key[name]}` : String(key.granted)
}

export function dueNotices(watched: Watched, nowMs: number): DueNotice[] {
  if (watched.key.status === 'revoked') return []
  const all = [
    ...lowBalance(watched),
    ...CREDIT_REFUSALS.flatMap((refusal) => creditRefusalNotice(watched, refusal)),
    ...expiry(),
  ]
  return all.filter(({ what, mark }) => watched.told[what] !== mark)

  function expiry(): DueNotice[] {
    const { expiresAtMs } = watched.key
    if (expiresAtMs === undefined || expiresAtMs <= nowMs || expiresAtMs - EXPIRY_NOTICE_MS > nowMs) return []
    return [{ what: 'key.expires_soon', mark: String(expiresAtMs), facts: { expires_at: isoTime(expiresAtMs) } }]
  }
}

const kindOf = ({ id }: Owner) => (isAccountId(id) ? 'account' : 'key')

/** The credits that are not charged count: those that requests hold come back in part. */
function lowBalance({ key, spentAtGrant, told }: Watched): DueNotice[] {
  const what = `${kindOf(key)}.balance_low` as const
  const { notifyBelow: level, granted, spent, purse } = key
  // The balance of a purse is that of its account or its pool, which tells it.
  if (purse || level === undefined || granted - spent >= level) return []
  const isSameLevel = told[what]?.split('/')[1] === String(level)
  // It was told, and no top-up since has brought the balance to the level.
  if (isSameLevel && granted - spentAtGrant < level) return []
  const facts = { balance: formatCredits(granted - spent), notify_below: formatCredits(level) }
  return [{ what, mark: `${granted}/${level}`, facts }]
}

function creditRefusalNotice({ key, creditRefusal }: Watched, refusal: CreditRefusal): DueNotice[] {
  const mark = creditRefusal[refusal]
  if (mark === undefined) return []
  const [window, limit] = mark.split('/')
  const facts: Facts =
    window !== undefined && limit !== undefined
      ? { window, limit: formatCredits(BigInt(limit)) }
      : { balance: formatCredits(key.available) }
  return [{ what: `${kindOf(key)}.${refusal}` as NoticeKind, mark, facts }]
}
