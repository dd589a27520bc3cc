import { randomBytes } from 'node:crypto'
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, expect } from '@jest/globals'
import { createTables } from '../../../layers/gateway/store/dynamodb/create-tables.ts'
import { type LocalEndpoint, openTables } from '../../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { freshCredentials, startDatabase } from '../../../local/database-thread.ts'
import { isReserved } from '../../../local/dynamodb/reserved-words.ts'
import { Random } from '../../simulation/random.ts'
import { testWithAmazon } from '../../support/amazon.ts'
import { startDynamoDbLocal } from '../../support/dynamodb-local.ts'
import { hasJava } from '../../support/programs.ts'
import { sdkClient } from '../../support/sdk-database.ts'
import { RandomCommands } from './random-commands.ts'
import { commandsFor, recordHistories } from './recorded-commands.ts'
import { Mismatch, SideBySide } from './side-by-side.ts'

// Another seed or a longer run: MODEL_SEED=7 MODEL_STEPS=50000 npm run -s jest -- beside-amazon
const SEED = Number(process.env.MODEL_SEED ?? 1)
const STEPS = Number(process.env.MODEL_STEPS ?? 800)
const LANES = 4
const CONTENTS_EVERY = 80
const TIMEOUT_MS = 30_000 + STEPS * 20

const stack = new AsyncDisposableStack()
let amazon: LocalEndpoint
let ours: LocalEndpoint

beforeAll(async () => {
  if (!hasJava()) return
  ;[amazon, ours] = await Promise.all([
    startDynamoDbLocal(stack),
    startDatabase({ file: null, credentials: freshCredentials() }, stack),
  ])
}, 60_000)
afterAll(() => stack.disposeAsync())

/** Fresh tables, of the same names on both sides. */
async function openSides(): Promise<SideBySide> {
  const id = randomBytes(6).toString('hex')
  const names = { keysTable: `keys-${id}`, usageTable: `usage-${id}`, answersTable: `answers-${id}` }
  const both = [amazon, ours].map((local) => ({ ...openTables(names, local), client: sdkClient(local) }))
  await Promise.all(both.map(createTables))
  const [first, second] = both as [(typeof both)[0], (typeof both)[0]]
  return new SideBySide(first, second)
}

type Act = () => Promise<unknown>

/** Several at once, each with tables and choices of its own, so that what happens in one depends on its seed alone. */
async function compareInLanes(count: number, actsOf: (sides: SideBySide, lane: number) => Act[]): Promise<Set<string>> {
  const all = Array.from({ length: count }, async (_, lane) => {
    const sides = await openSides()
    try {
      for (const [i, act] of actsOf(sides, lane).entries()) {
        await act().catch(ignoreRefusals)
        if (i % CONTENTS_EVERY === CONTENTS_EVERY - 1) await sides.compareContents()
      }
      await sides.compareContents()
    } catch (error) {
      throw new Error(`seed ${SEED}, lane ${lane}, command ${sides.commands}: ${(error as Error).message}`, {
        cause: error,
      })
    } finally {
      sides.local.client.destroy()
      sides.ours.client.destroy()
    }
    return Object.keys(sides.answers)
  })
  return new Set((await Promise.all(all)).flat())
}

/** Both sides refused, in the same way. */
function ignoreRefusals(error: unknown): void {
  if (error instanceof Mismatch) throw error
}

testWithAmazon(
  "our database answers the commands of the gateway as Amazon's DynamoDB Local does, and so does the simulator's",
  async () => {
    const seeds = Array.from({ length: Math.ceil(STEPS / 100) }, (_, i) => SEED * 1_000 + i)
    const histories = await recordHistories(seeds)
    const kinds = await compareInLanes(histories.length, (sides, lane) =>
      commandsFor(sides.local, histories[lane] ?? []).map((command) => () => sides.send(command)),
    )
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'UpdateCommand: done',
        'UpdateCommand: ConditionalCheckFailedException',
        'PutCommand: ConditionalCheckFailedException',
        'TransactWriteCommand: done',
        'TransactWriteCommand: TransactionCanceledException',
        'QueryCommand: done',
        'ScanCommand: done',
      ]),
    )
  },
  TIMEOUT_MS,
)

testWithAmazon(
  "our database answers random commands, right and wrong, as Amazon's DynamoDB Local does, and so does the simulator's",
  async () => {
    const kinds = await compareInLanes(LANES, (sides, lane) => {
      const commands = new RandomCommands(sides, new Random(SEED * 1_000 + lane))
      return Array.from({ length: STEPS / LANES }, () => () => commands.step())
    })
    for (const command of ['Put', 'Update', 'Delete', 'Get', 'Query', 'Scan', 'TransactWrite']) {
      expect(kinds).toContain(`${command}Command: done`)
      expect(kinds).toContain(`${command}Command: ValidationException`)
    }
    expect(kinds).toContain('TransactWriteCommand: IdempotentParameterMismatchException')
    for (const word of ['ADD', 'DELETE', 'contains', 'UPDATED_NEW']) expect(kinds).toContain(`${word}: done`)
  },
  TIMEOUT_MS,
)

testWithAmazon('an empty set is refused before it is sent', async () => {
  const sides = await openSides()
  const [TableName, Key] = [sides.local.keys, { pk: 'p', sk: 's' }]
  const ExpressionAttributeValues = { ':empty': new Set() }
  for (const command of [
    new PutCommand({ TableName, Item: { ...Key, set: new Set() } }),
    new UpdateCommand({ TableName, Key, UpdateExpression: 'ADD ss :empty', ExpressionAttributeValues }),
  ]) {
    await expect(sides.send(command)).rejects.toThrow('Pass a non-empty set')
  }
})

testWithAmazon('the same words are reserved', async () => {
  const { local } = await openSides()
  const words = ['Name', 'status', 'ttl', 'zone', 'expiresAt', 'keyDay', 'id', 'code', 'pk', 'data', 'Value', 'Values']
  for (const word of words) {
    const get = new GetCommand({ TableName: local.keys, Key: { pk: 'p', sk: 's' }, ProjectionExpression: word })
    const refused = await local.client.send(get).then(
      () => false,
      () => true,
    )
    expect([word, isReserved(word)]).toEqual([word, refused])
  }
})
