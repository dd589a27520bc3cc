import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import { accountIdOf, type Key } from '../../gateway/domain/keys/key.ts'
import { type Customer, MONTH, payerIn, type Statement, statementOf } from '../../gateway/domain/rows/statement.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import { MOST_TOTALS, readStatement } from '../../gateway/store/accounts/read-statement.ts'
import { AdminError } from './admin-error.ts'
import { type Call, requireScope } from './call.ts'
import { accountInPath, keyInPath, keysAskedFor, known } from './changed-key.ts'
import { wrong } from './fields.ts'

export async function ofAccount(call: Call): Promise<Statement> {
  const account = await accountInPath(call)
  return statement(call, account, (await keysAskedFor(call, { account: account.id })) ?? [])
}

export async function ofKey(call: Call): Promise<Statement> {
  const key = await keyInPath(call)
  const accountId = payerIn(call.path.month ?? '', accountIdOf(key), key.purse?.adoptedAtMs)
  if (accountId === undefined) return statement(call, key, [key])
  const { name } = await known(call, ACCOUNT, accountId)
  const how = `waybill statement --account ${shellWord(name)} --month ${shellWord(call.path.month ?? '')}`
  const message = `The key '${key.name}' is one of the account '${name}', whose statements have its charges: ${how}.`
  throw new AdminError('invalid_request', message)
}

async function statement(call: Call, customer: Customer, keys: readonly Key[]): Promise<Statement> {
  requireScope(call.identity, 'keys.read')
  const { month = '' } = call.path
  if (!MONTH.test(month)) throw wrong('month', 'must be a month such as 2026-10.')
  const read = await readStatement(call.tables)(customer.id, keys, month)
  if ('books' in read) return statementOf(customer, read.books, call)
  if ('openDay' in read)
    throw wrong(
      'month',
      `must be closed, but ${read.openDay} is not. A day is closed two hours and 16 minutes after its end.`,
    )
  const message = `Up to the end of that month the keys have ${read.totals} days, and a statement is made of ${MOST_TOTALS} at most.`
  throw new AdminError('answer_too_large', message)
}
