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

// Sends the two writes that a request makes to its key, its admission and its settlement, as often as it is asked to:
// through the gateway's own store, or through the SDK's document client. It tells the processor time of one call.

export type StoreQuestion = { readonly via: 'store' | 'sdk'; readonly requests: number }

const [endpoint = '', upstreamUrl = ''] = process.argv.slice(2)
const tables = openTables(LOCAL_TABLES, { endpoint })
const { key } = await prepareTables(tables, upstreamUrl)
const settings = { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
const sdk = DynamoDBDocumentClient.from(new DynamoDBClient(settings))

type Send = (write: UpdateCommandInput) => Promise<unknown>
const SENDERS: Readonly<Record<StoreQuestion['via'], Send>> = {
  store: (write) => tables.client.send(new UpdateCommand(write)),
  sdk: (write) => sdk.send(new UpdateCommand(write)),
}

process.on('message', async ({ via, requests }: Partial<StoreQuestion>) => {
  if (!via || !requests) return
  const send = SENDERS[via]
  const writes: UpdateCommandInput[] = []
  for (let i = 0; i < requests; i++) writes.push(...(await writesOfRequest(key)))
  const before = process.cpuUsage()
  for (const write of writes) await send(write)
  const { user, system } = process.cpuUsage(before)
  process.send?.((user + system) / writes.length)
})
process.send?.('ready')

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
