import { DeleteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { CATALOG_ITEM, SEEDED, TABLES } from '../../layers/gateway/contract.ts'
import { isConditionFailed } from '../../layers/gateway/store/failures.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { HALT_ITEM } from '../../layers/gateway/store/usage/closing.ts'
import { CliError } from '../terminal/cli-error.ts'
import { type RawItem, toJson } from './item-text.ts'
import { readBackup } from './read-backup.ts'
import { KEPT, type Kept } from './write-backup.ts'

/** Concurrent writes; no more items than these are in memory. */
const AT_ONCE = 16

const HALT: RawItem = { part: { S: HALT_ITEM.part }, requestId: { S: HALT_ITEM.requestId } }

/** The catalog that the first deployment puts in force is no content of the operator's. */
const isSeed = (item: RawItem) => item.pk?.S === CATALOG_ITEM.pk && item.pushedAt?.S === SEEDED

export async function refuseContent({ client, ...tables }: OperatorTables): Promise<void> {
  for (const name of KEPT) {
    const { Items = [] } = await client.send(
      new ScanCommand({ TableName: tables[name], Limit: 2, ConsistentRead: true }),
    )
    if (Items.every(isSeed)) continue
    throw new CliError(
      `The table ${tables[name]} is not empty, so nothing was restored. Add --resume only to go on with a restore that broke off.`,
    )
  }
}

/** Puts every missing item. An item that exists stays, and must be the same. */
export async function restoreItems(tables: OperatorTables, file: string): Promise<void> {
  const { client, usage } = tables
  // No day may be closed while some of its rows are missing.
  await client.send(new PutItemCommand({ TableName: usage, Item: HALT }))
  const entries = readBackup(file)
  const failures: unknown[] = []
  const work = async () => {
    while (failures.length === 0) {
      const { done, value } = await entries.next()
      if (done) return
      await putItem(tables, value.table, value.item)
    }
  }
  // All end before the first failure is thrown, so that nothing is written after it.
  await Promise.all(Array.from({ length: AT_ONCE }, () => work().catch((error) => failures.push(error))))
  await entries.return(undefined)
  if (failures.length > 0) throw failures[0]
  await client.send(new DeleteItemCommand({ TableName: usage, Key: HALT }))
}

async function putItem(tables: OperatorTables, table: Kept, item: RawItem): Promise<void> {
  try {
    await tables.client.send(
      new PutItemCommand({
        TableName: tables[table],
        Item: item,
        ConditionExpression: 'attribute_not_exists(#partition) OR (#partition = :catalog AND pushedAt = :seeded)',
        ExpressionAttributeNames: { '#partition': TABLES[table].partitionKey },
        ExpressionAttributeValues: { ':catalog': { S: CATALOG_ITEM.pk }, ':seeded': { S: SEEDED } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
  } catch (error) {
    if (!isConditionFailed(error)) throw error
    // It may be our own: a write whose outcome is unknown is sent again, and --resume writes all again.
    const there = error.Item as RawItem | undefined
    if (there && textOf(there) === textOf(item)) return
    const name = [item.pk?.S ?? item.requestId?.S, item.sk?.S].filter(Boolean).join(' ')
    throw new CliError(`${name} is in ${tables[table]} already, and differs. It stays as it is; the restore ends here.`)
  }
}

function textOf(item: RawItem): string {
  return JSON.stringify(toJson(item))
}
