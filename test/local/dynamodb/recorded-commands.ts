import { hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Tables } from '../../../layers/gateway/store/dynamodb/database.ts'
import type { DocumentCommand } from '../../simulation/dynamodb/dynamodb-model.ts'

type Members = { TableName?: string; TransactItems?: Record<string, Members>[]; ClientRequestToken?: string }
export type Recorded = { readonly name: keyof typeof COMMANDS; readonly input: Members }

const COMMANDS = {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
}

/** The commands of a gateway and its operators in histories of the simulator, one after the other of each. */
export function recordHistories(seeds: readonly number[]): Promise<Recorded[][]> {
  const execArgv = ['--disable-warning=ExperimentalWarning']
  const worker = new Worker(new URL('record-history.ts', import.meta.url), { workerData: seeds, execArgv })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject)
  })
}

/** The same for these tables. */
export function commandsFor(tables: Tables, recorded: readonly Recorded[]): DocumentCommand[] {
  const renamed = ({ TableName, TransactItems, ClientRequestToken: token, ...members }: Members): Members => ({
    ...members,
    ...(TableName && { TableName: tables[TableName as 'keys'] }),
    ...(TransactItems && { TransactItems: TransactItems.map(inTables) }),
    ...(token && { ClientRequestToken: hash('md5', `${tables.keys} ${token}`) }),
  })
  const inTables = (item: Record<string, Members>) =>
    Object.fromEntries(Object.entries(item).map(([kind, members]) => [kind, renamed(members)]))
  return recorded.map(({ name, input }) => new COMMANDS[name](renamed(input) as never))
}
