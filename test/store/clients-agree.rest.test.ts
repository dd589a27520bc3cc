import { randomUUID } from 'node:crypto'
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { expect, test } from '@jest/globals'
import type { Database, Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { RandomCommands, type Sides } from '../local/dynamodb/random-commands.ts'
import { commandsFor, recordHistories } from '../local/dynamodb/recorded-commands.ts'
import { canonical } from '../local/dynamodb/side-by-side.ts'
import type { DocumentCommand } from '../simulation/dynamodb/dynamodb-model.ts'
import { Random } from '../simulation/random.ts'
import { openTestTables } from '../support/gateway.ts'
import { sdkClient, sdkDatabase } from '../support/sdk-database.ts'

// Another seed or a longer run: CLIENTS_SEED=7 CLIENTS_STEPS=20000 npm run -s jest -- test/store/clients-agree
const SEED = Number(process.env.CLIENTS_SEED ?? 1)
const STEPS = Number(process.env.CLIENTS_STEPS ?? 150)

type Cancelled = { readonly CancellationReasons?: readonly { readonly Code?: string }[] }
type Call = (...input: unknown[]) => Promise<object>

/** Tables of its own over one of the clients, with everything that was asked and answered. */
async function openSide(client: 'ours' | 'the SDK') {
  const { database, ...tables } = await openTestTables()
  const local = { endpoint: process.env.TEST_DYNAMODB ?? '' }
  const heard: string[] = []
  const used = client === 'ours' ? database : sdkDatabase(sdkClient(local), sdkClient(local, 1))
  return { heard, tables: { ...tables, database: recorded(used, heard, tables.keys.slice('keys-'.length)) } }
}

function recorded(database: Database, heard: string[], tableId: string): Database {
  const calls = Object.entries(database).map(([verb, call]) => [
    verb,
    async (input: unknown, ...more: unknown[]) => {
      const outcome = await outcomeOf(call as Call, input, more)
      const asked = canonical(input).replace(/"token": "[^"]*"/, 'a token')
      heard.push(`${verb} ${outcome.told.name}: ${asked}: ${canonical(outcome.told)}`.replaceAll(tableId, ''))
      if ('error' in outcome) throw outcome.error
      return outcome.answer
    },
  ])
  return Object.fromEntries(calls) as Database
}

async function outcomeOf(call: Call, input: unknown, more: unknown[]) {
  try {
    const answer = (await call(input, ...more)) ?? {}
    const { Item, Attributes, Items = [], LastEvaluatedKey } = answer as Record<string, unknown>
    return { answer, told: { name: 'done', Item, Attributes, Items, LastEvaluatedKey } }
  } catch (error) {
    const { name, message, Item, answer } = error as Error & { Item?: unknown; answer?: Cancelled }
    return { error, told: { name, message, Item, codes: answer?.CancellationReasons?.map(({ Code }) => Code) } }
  }
}

function sidesOf(local: Tables): Sides {
  const { database } = local
  return {
    local,
    async send(command: DocumentCommand) {
      const { input } = command
      if (command instanceof GetCommand) return database.get(input as never)
      if (command instanceof PutCommand) return database.put(input as never)
      if (command instanceof UpdateCommand) {
        // As admission is sent.
        const { ReturnValues, ReturnValuesOnConditionCheckFailure: onFailure } = command.input
        return ReturnValues && onFailure ? database.updateOnce(input as never) : database.update(input as never)
      }
      if (command instanceof DeleteCommand) return database.delete(input as never)
      if (command instanceof QueryCommand) return database.query(input as never)
      if (command instanceof ScanCommand) return database.scan(input as never)
      if (!(command instanceof TransactWriteCommand)) throw new Error(`No verb for a ${command.constructor.name}.`)
      const { TransactItems: items = [], ClientRequestToken: token = randomUUID() } = command.input
      await database.transact({ items: items as never, token }, AbortSignal.timeout(10_000))
      return {}
    },
    scanInPages: async (_: ScanCommandInput) => {},
  }
}

type Act = () => Promise<unknown>
type ActsOf = (tables: Tables) => readonly Act[]

async function heardBy(client: 'ours' | 'the SDK', actsOf: ActsOf): Promise<string[]> {
  const { heard, tables } = await openSide(client)
  for (const act of actsOf(tables)) await act().catch(() => {})
  return heard
}

const histories = await recordHistories([SEED * 1_000, SEED * 1_000 + 3])

function replayed(tables: Tables): Act[] {
  const { send } = sidesOf(tables)
  return histories.flatMap((history) => commandsFor(tables, history)).map((command) => () => send(command))
}

function madeUp(tables: Tables): Act[] {
  const commands = new RandomCommands(sidesOf(tables), new Random(SEED))
  return Array.from({ length: STEPS }, () => () => commands.step())
}

const kindsOf = (heard: string[]) => new Set(heard.map((line) => line.split(':', 1)[0]))

test.each([
  ['the gateway’s own commands', replayed, ['updateOnce', 'put', 'transact']],
  ['random commands, right and wrong', madeUp, ['update', 'put', 'transact']],
] as const)(
  'our DynamoDB client gives the answers and errors of the AWS SDK to %s',
  async (_, actsOf, conditional) => {
    const [ours, sdks] = await Promise.all([heardBy('ours', actsOf), heardBy('the SDK', actsOf)])
    expect(ours).toEqual(sdks)
    const kinds = [...kindsOf(ours)]
    expect(kinds).toEqual(expect.arrayContaining(['get done', 'query done', 'update done']))
    for (const verb of conditional) {
      const failed = verb === 'transact' ? 'TransactionCanceledException' : 'ConditionalCheckFailedException'
      expect(kinds).toEqual(expect.arrayContaining([`${verb} done`, `${verb} ${failed}`]))
    }
  },
  30_000 + STEPS * 60,
)
