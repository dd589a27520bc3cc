import { readBalance } from '../../../functions/on-demand.ts'
import { createSweep } from '../../../functions/sweep/create.ts'
import {
  type Account,
  type AccountSettings,
  isPurse,
  type PurseKey,
} from '../../../layers/gateway/domain/keys/account.ts'
import { parseCredits } from '../../../layers/gateway/domain/money/money.ts'
import { transfers } from '../../../layers/gateway/store/accounts/transfers.ts'
import type { NoticeBody } from '../../../layers/gateway/wire/keys/notice-body.ts'
import { booksBalance, catalogFor, HELLO } from '../../support/gateway.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { say } from '../../support/upstream.ts'

/** Each request costs one credit, whatever it says, and holds as much. */
export const FLAT = { price: { input: '0', output: '0', request: '1' } }
export const LOOSE = { rpm: 60_000, maxConcurrent: 1_000 }

export const credits = (text: string) => parseCredits(text) ?? 0n

/** Two instances over the same tables, with one clock, and what tests do with accounts there. */
export async function openAccounts(model: object = FLAT) {
  const time = { nowMs: Date.UTC(2026, 10, 17, 12) }
  const clock = () => time.nowMs
  const upstream = await openUpstream(say('Hello'))
  const catalog = catalogFor(upstream.url, model)
  const gateway = await openFor(catalog, { clock })
  const other = await openFor(catalog, { onSameTables: gateway, clock })
  const { tables } = gateway
  const verbs = transfers(tables)
  return { time, upstream, gateway, other, tables, ...verbs, open, statusOf, spend, balanceOf, poolOf, purseOf, sweep }

  async function open({ keys = 2, ...settings }: Partial<AccountSettings> & { keys?: number; credits?: string } = {}) {
    const account = await gateway.openAccount(settings)
    const issued = await Promise.all(Array.from({ length: keys }, () => gateway.issue({ account, ...LOOSE })))
    const [a = '', b = ''] = issued.map(({ secret }) => secret)
    const [idA = '', idB = ''] = issued.map(({ key }) => key.id)
    return { account, issued, a, b, idA, idB }
  }

  async function statusOf(secret: string, at = gateway): Promise<number> {
    const response = await at.post(secret, HELLO)
    await response.text()
    return response.status
  }

  async function spend(secret: string, requests: number): Promise<number[]> {
    const statuses: number[] = []
    for (let i = 0; i < requests; i++) statuses.push(await statusOf(secret))
    return statuses
  }

  async function balanceOf({ id }: Account) {
    return (await readBalance(tables)(id))?.balance
  }

  async function poolOf({ id }: Account) {
    return (await verbs.readAccount(id))?.available
  }

  async function purseOf(keyId: string): Promise<PurseKey> {
    const key = await gateway.readKey(keyId)
    if (!isPurse(key) || !booksBalance(key)) throw new Error(`The purse of ${keyId} is wrong.`)
    return key
  }

  /** Tells what a sweep tells. */
  async function sweep(): Promise<NoticeBody[]> {
    const told: NoticeBody[] = []
    await createSweep(gateway.instance, async (notice) => void told.push(notice))()
    return told
  }
}
