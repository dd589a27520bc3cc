import type { Key } from '../layers/gateway/domain/key.ts'
import { agoText } from './ago-text.ts'
import { keyView } from './key-view.ts'
import { printFields, printJson } from './output.ts'
import type { Report } from './run.ts'

type ShowOptions = { readonly out: Console; readonly json: boolean; readonly nowMs: number; readonly secret?: string }

export function showKey(key: Key, { out, json, nowMs, secret }: ShowOptions): void {
  const view = keyView(key, nowMs)
  if (json) {
    printJson(out, { ...view, ...(secret && { secret }) })
    return
  }
  printFields(out, {
    id: view.id,
    name: view.name,
    status: view.status,
    key: `${view.prefix}…${view.lastFour}`,
    ...(view.previousUntil && {
      'old secret': `…${view.previousLastFour} valid until ${view.previousUntil}, ${oldSecretUse(view.previousUsedAt, nowMs)}`,
    }),
    ...(view.externalId !== undefined && { 'external id': view.externalId }),
    ...(view.expiresAt !== undefined && { [view.status === 'expired' ? 'expired' : 'expires']: view.expiresAt }),
    ...(view.note !== undefined && { note: view.note }),
    scopes: view.scopes.join(', '),
    'allowed from': view.allowlist.join(', ') || 'every address',
    limits: `${view.rpm} a minute, ${view.dailyLimit} a day (${view.requestsToday} today), ${view.maxConcurrent} at once (${view.requestsOpen} now)`,
    granted: view.granted,
    available: view.available,
    held: view.held,
    spent: view.spent,
    created: view.createdAt,
    'last used': view.lastUsedAt === undefined ? 'never' : agoText(view.lastUsedAt, nowMs),
  })
  if (secret) out.log(`\n${secret}\n\n${ONLY_TIME}`)
}

/** Whether it can be ended is what one wants to know of it. */
function oldSecretUse(usedAt: string | undefined, nowMs: number): string {
  return usedAt === undefined ? 'not used since the rotation' : `last used ${agoText(usedAt, nowMs)}`
}

export const ONLY_TIME = 'This is the only time the secret is shown. Keep it safe.'

type UnsureSecret = {
  readonly id: string
  readonly secret: string
  /** Where it can be seen; `keys show` unless given. */
  readonly look?: string
  /** The remedy if the secret turns out not to be saved. */
  readonly otherwise: string
  readonly reason: string
}

/** A secret that may be in force. It is shown all the same: if it is, nothing else can show it any more. */
export function showUnsureSecret(
  { id, secret, look = `look with 'waybill keys show ${id}'`, otherwise, reason }: UnsureSecret,
  { out, fail, json }: Report & { readonly json: boolean },
): void {
  const lastFour = secret.slice(-4)
  fail()
  if (json) {
    printJson(out, { id, lastFour, secret, saved: 'unknown' })
    return
  }
  out.log(
    `${secret}\n\nIt is not known whether this was saved (${reason}): try it, or ${look} whether the key ends in …${lastFour}; if not, ${otherwise}. ${ONLY_TIME}`,
  )
}
