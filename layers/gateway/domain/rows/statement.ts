import { isoTime, utcDay } from '../basics/time.ts'
import { formatCredits, type Nano } from '../money/money.ts'
import type { UsageGroups } from './day-total.ts'

/** The name and the printed digits of a credit, of a stage's setting such as `USD 2`. */
export type Seller = { readonly seller?: string | undefined; readonly currency?: string | undefined }

export type Customer = { readonly id: string; readonly name: string; readonly externalId?: string | undefined }

type Grant = { readonly credits: Nano; readonly grantedAt: string; readonly reference: string | undefined }

export type KeyOfStatement = {
  readonly id: string
  readonly name: string
  /** The grant with which it came into the account, with its past. */
  readonly joined?: Grant | undefined
  /** All that it was charged on the days before the month. */
  readonly before: Nano
  readonly models: UsageGroups
}

export type StatementBooks = {
  readonly isAccount: boolean
  readonly month: string
  /** Those of before the month's end, oldest first. */
  readonly grants: readonly Grant[]
  readonly keys: readonly KeyOfStatement[]
}

export const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/

export type Statement = ReturnType<typeof statementOf>

/** The first day of a month such as 2026-10, and of the next one. */
export function daysOfMonth(month: string): { readonly first: string; readonly next: string } {
  return { first: `${month}-01`, next: utcDay(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)))) }
}

/** The account that pays on papers of a month or day: those of a key from before the month in which it was adopted stay its own. */
export const payerIn = <Id>(time: string, accountId: Id, adoptedAtMs = 0): Id | undefined =>
  isoTime(adoptedAtMs).slice(0, 7) <= time ? accountId : undefined

/** Made of closed days and grants only, which do not change: opening + topped_up + adopted + corrected − charged = closing. */
export function statementOf({ id, name, externalId }: Customer, books: StatementBooks, { seller, currency }: Seller) {
  const { month, keys, isAccount } = books
  const { first, next } = daysOfMonth(month)
  const joins = new Set(keys.map(({ joined }) => joined))
  const isEarlier = ({ grantedAt }: Grant) => grantedAt < first
  const grants = books.grants.filter((grant) => !isEarlier(grant) && !joins.has(grant))
  const [topUps, corrections] = [grants.filter((one) => one.credits > 0n), grants.filter((one) => one.credits <= 0n)]
  const joining = keys.filter(({ joined }) => joined && !isEarlier(joined))
  const adopted = joining.map((key) => ({ ...key, credits: (key.joined?.credits ?? 0n) - key.before }))
  const usage = keys.flatMap((key) =>
    key.models.byName().flatMap(([model, { requests, promptTokens, completionTokens, cost }]) => {
      // All of them were refused.
      if (cost === 0n && promptTokens + completionTokens === 0) return []
      return [{ key, model, requests, promptTokens, completionTokens, cost }]
    }),
  )
  const earlier = keys.filter((key) => !joining.includes(key)).reduce((all, { before }) => all + before, 0n)
  const opening = sumOf(books.grants.filter(isEarlier)) - earlier
  const charged = usage.reduce((all, { cost }) => all + cost, 0n)
  const closing = opening + sumOf(topUps) + sumOf(adopted) + sumOf(corrections) - charged
  const [unit = null, digits] = currency?.split(' ') ?? []
  return {
    object: 'statement' as const,
    month,
    first_day: first,
    last_day: utcDay(Date.parse(next) - 1),
    seller: seller ?? null,
    currency: unit === null ? null : { name: unit, digits: Number(digits) },
    account_id: isAccount ? id : null,
    key_id: isAccount ? null : id,
    name,
    external_id: externalId ?? null,
    opening: formatCredits(opening),
    topped_up: formatCredits(sumOf(topUps)),
    adopted: formatCredits(sumOf(adopted)),
    corrected: formatCredits(sumOf(corrections)),
    charged: formatCredits(charged),
    closing: formatCredits(closing),
    top_ups: topUps.map(grantLine),
    adoptions: adopted.map(({ joined, credits, ...key }) => ({
      at: joined?.grantedAt ?? '',
      credits: formatCredits(credits),
      key_id: key.id,
      key_name: key.name,
    })),
    corrections: corrections.map(grantLine),
    usage: usage.map(({ key, model, requests, promptTokens, completionTokens, cost }) => ({
      key_id: key.id,
      key_name: key.name,
      model,
      requests,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      charged: formatCredits(cost),
    })),
  }
}

function sumOf(all: readonly { readonly credits: Nano }[]): Nano {
  return all.reduce((sum, { credits }) => sum + credits, 0n)
}

function grantLine({ grantedAt, credits, reference }: Grant) {
  return { at: grantedAt, credits: formatCredits(credits), reference: reference ?? null }
}
