import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { accountIdOf } from '../../layers/gateway/domain/keys/key.ts'
import { dayAfter } from '../../layers/gateway/domain/rows/closed-day.ts'
import { type Seller, statementOf } from '../../layers/gateway/domain/rows/statement.ts'
import { ACCOUNT } from '../../layers/gateway/store/accounts/account-item.ts'
import { publishStatement, readPublished } from '../../layers/gateway/store/accounts/published-statements.ts'
import { readStatement } from '../../layers/gateway/store/accounts/read-statement.ts'
import { newest, newestKeys } from '../../layers/gateway/store/keys/newest-keys.ts'
import { noteClosing, readClosing } from '../../layers/gateway/store/rows/closing.ts'
import type { Instance } from '../instance.ts'

/** Once a day, for accounts whose keys may read them: a caller who asks for one has it read, and never made. */
export async function publishStatements({ tables }: Instance, hasTime: () => boolean, seller: Seller): Promise<void> {
  const { closedThrough, statedThrough } = await readClosing(tables)()
  if (closedThrough === undefined || closedThrough === statedThrough) return
  const all = await Array.fromAsync(newest(tables, ACCOUNT)())
  const accounts = all.filter(({ showsStatements }) => showsStatements)
  const keys = accounts.length > 0 ? await Array.fromAsync(newestKeys(tables)()) : []
  for (const account of accounts) {
    const own = keys.filter((key) => accountIdOf(key) === account.id)
    for (const month of await monthsLeft(account.id, isoTime(account.createdAtMs).slice(0, 7), closedThrough)) {
      if (!hasTime()) return
      const read = await readStatement(tables)(account.id, own, month)
      if ('books' in read) await publishStatement(tables)(account.id, statementOf(account, read.books, seller))
    }
  }
  await noteClosing(tables)({ statedThrough: closedThrough })

  /** Oldest first, so that all before one that is published are. */
  async function monthsLeft(accountId: string, first: string, closedThrough: string): Promise<readonly string[]> {
    const months: string[] = []
    for (const month of monthsBefore(dayAfter(closedThrough).slice(0, 7))) {
      if (month < first || (await readPublished(tables)(accountId, month))) break
      months.unshift(month)
    }
    return months
  }
}

/** The months of a year, newest first. */
function monthsBefore(month: string): readonly string[] {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return Array.from({ length: 12 }, (_, i) => isoTime(Date.UTC(year, number - 2 - i)).slice(0, 7))
}
