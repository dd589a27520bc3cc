import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from '@jest/globals'
import { TABLES } from '../../../layers/gateway/contract.ts'
import { openTestTables } from '../../support/gateway.ts'
import { Random } from '../random.ts'
import { DynamoModel } from './dynamodb-model.ts'
import { RandomCommands } from './random-commands.ts'
import { RandomVerbs } from './random-verbs.ts'
import { Mismatch, SideBySide } from './side-by-side.ts'

// Another seed or a longer run: MODEL_SEED=7 MODEL_STEPS=50000 npm run -s jest -- test/simulation
const SEED = Number(process.env.MODEL_SEED ?? 1)
const STEPS = Number(process.env.MODEL_STEPS ?? 800)
const LANES = 4
const CONTENTS_EVERY = 80
const TIMEOUT_MS = 30_000 + STEPS * 20

type Steps = { step(): Promise<void> }

/** Several at once, each with tables and choices of its own, so that what happens in one depends on its seed alone. */
async function compareInLanes(open: (sides: SideBySide, random: Random) => Steps): Promise<SideBySide[]> {
  return Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const sides = new SideBySide(await openTestTables())
      const steps = open(sides, new Random(SEED * 1_000 + lane))
      try {
        await walk(sides, steps)
      } catch (error) {
        throw new Error(`seed ${SEED}, lane ${lane}, command ${sides.commands}: ${(error as Error).message}`, {
          cause: error,
        })
      } finally {
        sides.local.client.destroy()
      }
      return sides
    }),
  )
}

async function walk(sides: SideBySide, steps: Steps): Promise<void> {
  for (let i = 1; i <= STEPS / LANES / 2; i++) {
    await steps.step().catch(ignoreRefusals)
    if (i % CONTENTS_EVERY === 0) await sides.compareContents()
  }
  await sides.compareContents()
}

/** Both sides refused, in the same way. */
function ignoreRefusals(error: unknown): void {
  if (error instanceof Mismatch) throw error
}

function kindsOfAnswers(all: SideBySide[]): Set<string> {
  return new Set(all.flatMap(({ answers }) => Object.keys(answers)))
}

test(
  'the model of DynamoDB answers the commands of the store as DynamoDB Local does',
  async () => {
    const all = await compareInLanes((sides, random) => new RandomVerbs(sides.tables, random))
    expect([...kindsOfAnswers(all)]).toEqual(
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

test(
  'the model of DynamoDB answers random expressions, right and wrong, as DynamoDB Local does',
  async () => {
    const all = await compareInLanes((sides, random) => new RandomCommands(sides, random))
    const kinds = kindsOfAnswers(all)
    for (const command of ['Put', 'Update', 'Delete', 'Get', 'Query', 'Scan', 'TransactWrite']) {
      expect(kinds).toContain(`${command}Command: done`)
      expect(kinds).toContain(`${command}Command: ValidationException`)
    }
    expect(kinds).toContain('TransactWriteCommand: IdempotentParameterMismatchException')
    for (const word of ['ADD', 'DELETE', 'contains', 'UPDATED_NEW']) expect(kinds).toContain(`${word}: done`)
  },
  TIMEOUT_MS,
)

test('an empty set is refused by the model and by AWS’s SDK before it is sent', async () => {
  const sides = new SideBySide(await openTestTables())
  const [TableName, Key] = [sides.local.keys, { pk: 'p', sk: 's' }]
  const ExpressionAttributeValues = { ':empty': new Set() }
  for (const command of [
    new PutCommand({ TableName, Item: { ...Key, set: new Set() } }),
    new UpdateCommand({ TableName, Key, UpdateExpression: 'ADD ss :empty', ExpressionAttributeValues }),
  ]) {
    await expect(sides.send(command)).rejects.toThrow('Pass a non-empty set')
  }
  sides.local.client.destroy()
})

test('the model of DynamoDB keeps its own copy of every item that it is given or returns', () => {
  const model = new DynamoModel({ keys: TABLES.keys })
  const Key = { pk: 'p', sk: 's' }
  const stored = {
    ...Key,
    map: { list: [1, { deep: 2n ** 60n }] },
    bytes: Uint8Array.of(1),
    set: new Set([Uint8Array.of(1)]),
  }
  const added = new Set([Uint8Array.of(2)])
  const given = structuredClone(stored)
  model.execute(new PutCommand({ TableName: 'keys', Item: given }))
  spoil(given)
  const updated = model.execute(
    new UpdateCommand({
      TableName: 'keys',
      Key,
      UpdateExpression: 'SET #map.more = :more REMOVE #map.more2 ADD #set :added',
      ExpressionAttributeNames: { '#map': 'map', '#set': 'set' },
      ExpressionAttributeValues: { ':more': 1, ':added': added },
      ReturnValues: 'ALL_NEW',
    }),
  )
  spoilSet(added)
  spoil(updated.Attributes as typeof stored)
  spoil(itemOfRefusedPut(model, Key) as typeof stored)
  spoil(model.execute(new GetCommand({ TableName: 'keys', Key })).Item as typeof stored)
  expect(model.item('keys', Key)).toEqual({
    ...stored,
    map: { ...stored.map, more: 1 },
    set: new Set([Uint8Array.of(1), Uint8Array.of(2)]),
  })
})

function itemOfRefusedPut(model: DynamoModel, Key: Record<string, string>): unknown {
  try {
    return model.execute(
      new PutCommand({
        TableName: 'keys',
        Item: Key,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
  } catch (error) {
    return unmarshall((error as ConditionalCheckFailedException).Item ?? {})
  }
}

type Spoilable = { map: { list: unknown[] }; bytes: Uint8Array; set: Set<Uint8Array> }

function spoil({ map, bytes, set }: Spoilable): void {
  Object.assign(map.list[1] as object, { deep: 'spoilt' })
  map.list.push('spoilt')
  Object.assign(map, { spoilt: true })
  bytes[0] = 255
  spoilSet(set)
}

function spoilSet(set: Set<Uint8Array>): void {
  for (const element of set) element[0] = 255
  set.add(Uint8Array.of(254))
}
