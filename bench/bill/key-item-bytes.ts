import { randomBytes } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import { makeRequestId } from '../../layers/gateway/domain/basics/ulid.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../../layers/gateway/names.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/tables.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { LOCAL_TABLES } from '../../local/local-tables.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { itemBytes } from './item-size.ts'

/** The hold of a chat with a short prompt and room for a thousand tokens, in nanocredits. */
const HOLD = 2_012_345n

/** The size of a key's item with so many open requests, made by real admissions. */
export async function keyItemBytes(open: number, endpoint: string): Promise<number> {
  const tables = openTables(LOCAL_TABLES, { endpoint })
  let { key } = await prepareTables(endpoint, 'http://127.0.0.1:1/v1')
  const admit = takeAdmission(tables, 'UPDATED_NEW')
  for (let i = 0; i < open; i++) {
    const nowMs = Date.now()
    const requestId = makeRequestId(nowMs, randomBytes(10))
    const holdUntilMs = nowMs + FUNCTION_TIMEOUT_SECONDS * 1000
    const result = await admit(key, { requestId, hash: key.current.hash, nowMs, hold: HOLD, holdUntilMs })
    if (result.admitted !== true) throw new Error('The bench’s key was refused.')
    key = result.key
  }
  const { Item = {} } = await tables.database.get({
    TableName: tables.keys,
    Key: keyItem(key.id),
    ConsistentRead: true,
  })
  return itemBytes(marshall(Item))
}
