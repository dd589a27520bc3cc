import { badRequest, GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { MONTH } from '../../layers/gateway/domain/rows/statement.ts'
import { statementPage } from '../../layers/gateway/domain/rows/statement-page.ts'
import type { AdmittedRequest, GatewayEvent } from '../../layers/gateway/flow/request.ts'
import { ACCOUNT } from '../../layers/gateway/store/accounts/account-item.ts'
import { readPublished } from '../../layers/gateway/store/accounts/published-statements.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { readOne } from '../../layers/gateway/store/keys/rotating-item.ts'
import { idInPath } from '../../layers/gateway/wire/requests/find-route.ts'

/** The statement of the account of a key, as it was published, or as a page to print. */
export function answerStatement(tables: Tables) {
  const read = readPublished(tables)
  const readAccount = readOne(tables, ACCOUNT)
  return async ({ credential: { key } }: AdmittedRequest, { rawPath, headers }: GatewayEvent) => {
    const month = idInPath(rawPath) ?? ''
    if (!MONTH.test(month)) {
      const message = `A statement is of a month such as 2026-10, not of '${plainLine(month, 40)}'.`
      throw badRequest('invalid_value', message, 'month')
    }
    const account = key.purse && (await readAccount(key.purse.accountId))
    if (!account?.showsStatements) {
      const message =
        'The operator of this gateway does not show the statements of this key: GET /v1/usage has its charges.'
      throw new GatewayError('insufficient_scope', message)
    }
    const statement = await read(account.id, month)
    if (statement) return headers.accept === 'text/html' ? statementPage(statement) : statement
    const message = `There is no statement of ${month}: one is published on the day after its month has ended, or on the day after they were first shown, for a year back.`
    throw new GatewayError('not_found', message)
  }
}
