import { randomBytes } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import { FUNCTION_TIMEOUT_SECONDS } from '../../layers/gateway/contract.ts'
import type { Key } from '../../layers/gateway/domain/key.ts'
import { makeRequestId } from '../../layers/gateway/domain/ulid.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { openMemoryTables } from '../memory-tables.ts'
import { catalogFor } from '../subjects/catalog.ts'
import { benchKey } from '../subjects/key.ts'
import { itemBytes } from './item-size.ts'

/** The hold of a chat with a short prompt and room for a thousand tokens, in nanocredits. */
const HOLD = 2_012_345n

/** The size of a key's item with so many open requests, made by real admissions. */
export async function keyItemBytes(open: number): Promise<number> {
  const issued = benchKey().key
  const { tables, keyItem } = openMemoryTables(catalogFor('http://127.0.0.1:1/v1'), [issued])
  const admit = takeAdmission(tables, 'UPDATED_NEW')
  let key: Key = issued
  for (let i = 0; i < open; i++) {
    const nowMs = Date.now()
    const requestId = makeRequestId(nowMs, randomBytes(10))
    const holdUntilMs = nowMs + FUNCTION_TIMEOUT_SECONDS * 1000
    const result = await admit(key, { requestId, hash: key.current.hash, nowMs, hold: HOLD, holdUntilMs })
    if (result.admitted !== true) throw new Error('The bench’s key was refused.')
    key = result.key
  }
  return itemBytes(marshall(keyItem(), { removeUndefinedValues: true }))
}
