import { gunzipSync, gzipSync } from 'node:zlib'
import type { Statement } from '../../domain/rows/statement.ts'
import { USAGE_ITEMS } from '../../names.ts'
import { firstPut, putOnce } from '../dynamodb/conditional-writes.ts'
import { type Item, itemReader, type Tables } from '../dynamodb/database.ts'

/** The statements that the keys of an account may read, a partition for each account. */
function statementKey(accountId: string, month: string) {
  const part = `${USAGE_ITEMS.day}STATEMENTS#${accountId}`
  return { part, requestId: `${part}#${month}` }
}

/** A statement stays as it was published first. */
export function publishStatement({ database, usage }: Tables) {
  return async (accountId: string, statement: Statement): Promise<void> => {
    const content = gzipSync(JSON.stringify(statement))
    await putOnce(database, firstPut(usage, { ...statementKey(accountId, statement.month), content }, 'requestId'))
  }
}

export function readPublished({ database, usage }: Tables) {
  const read = ({ content }: Item): Statement => JSON.parse(gunzipSync(content as Uint8Array).toString())
  return itemReader(database, usage, statementKey, read)
}
