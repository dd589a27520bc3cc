// A file of its own beside the code of chat and api: loaded with the first purse that has too little.
import { type AccountBalance, balanceOf } from '../layers/gateway/domain/keys/account.ts'
import { type Draw, drawFromAccount } from '../layers/gateway/flow/admission/draw.ts'
import { transfers } from '../layers/gateway/store/accounts/transfers.ts'
import type { Tables } from '../layers/gateway/store/dynamodb/tables.ts'

export function drawFrom(tables: Tables): Draw {
  const verbs = transfers(tables)
  return (...purse) => drawFromAccount(verbs, ...purse)
}

/** An account with the credits that it has, wherever they lie. */
export function readBalance(tables: Tables) {
  const { readAccount, readPurses } = transfers(tables)
  return async (accountId: string): Promise<AccountBalance | undefined> => {
    const account = await readAccount(accountId)
    if (!account) return undefined
    const { available, ...balance } = balanceOf(account, await readPurses(account))
    // Purses are not read at one moment: credits that move meanwhile may be held in two of them.
    return { account, balance: { ...balance, available: available > 0n ? available : 0n } }
  }
}
