import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../../layers/gateway/domain/key.ts'
import { makeRequestId } from '../../layers/gateway/domain/ulid.ts'
import { releaseHold } from '../../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { toItem } from '../../layers/gateway/store/keys/key-item.ts'
import { openTables, type Tables } from '../../layers/gateway/store/tables.ts'
import { LOCAL_TABLES } from '../../operator/local-gateway.ts'
import { prepareTables } from './prepare-tables.ts'

// Sends the two writes that a request makes to its key, its admission and its settlement, as often as it is asked to: in
// turns through the gateway's own store and through the SDK's document client. It tells the processor time of one call.

export type StoreQuestion = { readonly turns: number }
/** In µs. */
export type StoreCpu = { readonly store: number; readonly sdk: number }

const REQUESTS_A_TURN = 10

const [endpoint = '', upstreamUrl = ''] = process.argv.slice(2)
const tables = openTables(LOCAL_TABLES, { endpoint })
const { key } = await prepareTables(tables, upstreamUrl)
const sdk = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    // A gateway does not wait for ever, whichever client it has.
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  }),
)

type Send = (write: UpdateCommandInput) => Promise<unknown>
const viaStore: Send = (write) => tables.client.send(new UpdateCommand(write))
const viaSdk: Send = (write) => sdk.send(new UpdateCommand(write))

process.on('message', async ({ turns }: Partial<StoreQuestion>) => {
  if (!turns) return
  const total = { store: 0, sdk: 0 }
  for (let turn = 0; turn < turns; turn++) {
    total.store += await cpuOfTurn(viaStore)
    total.sdk += await cpuOfTurn(viaSdk)
  }
  process.send?.({ store: total.store / turns, sdk: total.sdk / turns } satisfies StoreCpu)
})
process.send?.('ready')

async function cpuOfTurn(send: Send): Promise<number> {
  const writes: UpdateCommandInput[] = []
  for (let i = 0; i < REQUESTS_A_TURN; i++) writes.push(...(await writesOfRequest(key)))
  const before = process.cpuUsage()
  for (const write of writes) await send(write)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / writes.length
}

/** Each comes a second after the one before, so that none is refused for the key's rate. */
let nowMs = Date.now()

/** The writes as the store's own verbs make them, caught on their way to the database. */
async function writesOfRequest({ id: keyId, current: { hash } }: Key): Promise<UpdateCommandInput[]> {
  const caught: UpdateCommandInput[] = []
  const client = {
    send: async ({ input }: UpdateCommand) => {
      caught.push(input)
      return { Attributes: toItem(key) }
    },
  } as unknown as Tables['client']
  const catching: Tables = { ...tables, client, clientWithoutRetries: client }
  nowMs += 1_000
  const requestId = makeRequestId(nowMs, randomBytes(10))
  const hold = 2_012_345n
  await takeAdmission(catching)(key, { requestId, hash, nowMs, hold, holdUntilMs: nowMs + 900_000 })
  await releaseHold(catching)({ keyId, requestId, hold, cost: 212_345n })
  return caught
}
