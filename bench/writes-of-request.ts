import { randomBytes } from 'node:crypto'
import { COUNTER_NAMES } from '../layers/gateway/domain/counters.ts'
import type { Key } from '../layers/gateway/domain/key.ts'
import { makeRequestId } from '../layers/gateway/domain/ulid.ts'
import { releaseHold } from '../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../layers/gateway/store/admission/take-admission.ts'
import type { UpdateInput } from '../layers/gateway/store/database.ts'
import { toItem } from '../layers/gateway/store/keys/key-item.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'

type Writes = { readonly admission: UpdateInput; readonly settlement: UpdateInput }

/** Each request comes a second after the one before, so that none is refused for the key's rate. */
let nowMs = Date.now()

/** The two writes that a request makes to its key, as the store's own verbs make them, caught on their way to the database. */
export async function writesOfRequest(tables: Tables, key: Key): Promise<Writes> {
  const caught: UpdateInput[] = []
  const note = async (input: UpdateInput) => {
    caught.push(input)
    const counts = COUNTER_NAMES.map((name) => [input.ExpressionAttributeNames?.[`#${name}`], 1])
    return { Attributes: { ...toItem(key), ...Object.fromEntries(counts) } }
  }
  const catching = { ...tables, database: { ...tables.database, update: note, updateOnce: note } }
  nowMs += 1_000
  const requestId = makeRequestId(nowMs, randomBytes(10))
  const hold = { amount: 2_012_345n, untilMs: nowMs + 900_000 }
  const { hash } = key.current
  const demand = { requestId, hash, nowMs, hold: hold.amount, holdUntilMs: hold.untilMs }
  await takeAdmission(catching, 'UPDATED_NEW')(key, demand)
  await releaseHold(catching)({ keyId: key.id, requestId, hold, cost: 212_345n })
  const [admission, settlement] = caught as [UpdateInput, UpdateInput]
  return { admission, settlement }
}
