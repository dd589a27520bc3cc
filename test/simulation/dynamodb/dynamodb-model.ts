import { isDeepStrictEqual } from 'node:util'
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { TableDefinition } from '../../../layers/gateway/contract.ts'
import {
  conditionFailed,
  conditionReason,
  isValidationError,
  noSuchTable,
  type Reason,
  tokenReused,
  transactionCanceled,
  unsupported,
  validationError,
} from './failures.ts'
import { keyIn, refuseOthers } from './keys.ts'
import { getItem, query, scan } from './read.ts'
import { StoredTable } from './stored-table.ts'
import { copyOfItem, type Item } from './value.ts'
import {
  checkGiven,
  conditionHolds,
  outcomeOf,
  prepareWrite,
  returned,
  type Write,
  type WriteInput,
  type WriteKind,
} from './write.ts'

export type { Item } from './value.ts'

export type DocumentCommand =
  | GetCommand
  | PutCommand
  | UpdateCommand
  | DeleteCommand
  | TransactWriteCommand
  | QueryCommand
  | ScanCommand

type Output = Record<string, unknown>

export type ModelOptions = {
  /** Where a page of a query or scan ends at the latest, in place of DynamoDB's megabyte. */
  readonly itemsPerPage?: number
}

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues']
const CONDITIONAL = [
  'TableName',
  ...PLACEHOLDERS,
  'ConditionExpression',
  'ReturnValuesOnConditionCheckFailure',
  'ReturnValues',
]
const WRITE_MEMBERS = {
  Put: new Set([...CONDITIONAL, 'Item']),
  Update: new Set([...CONDITIONAL, 'Key', 'UpdateExpression']),
  Delete: new Set([...CONDITIONAL, 'Key']),
  ConditionCheck: new Set([...CONDITIONAL, 'Key']),
}
const GET_MEMBERS = new Set(['TableName', 'Key', 'ConsistentRead', 'ProjectionExpression', ...PLACEHOLDERS])
const SCAN_MEMBERS = new Set([
  ...['TableName', 'ConsistentRead', 'FilterExpression', 'ProjectionExpression', 'Limit', 'ExclusiveStartKey'],
  ...PLACEHOLDERS,
])
const QUERY_MEMBERS = new Set([...SCAN_MEMBERS, 'IndexName', 'KeyConditionExpression', 'ScanIndexForward'])
const TRANSACTION_MEMBERS = new Set(['TransactItems', 'ClientRequestToken'])
const WRITE_KINDS: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']
const TRANSACTION_ITEMS = 100

const OLD_ONLY = new Set(['NONE', 'ALL_OLD'])
const OLD_AND_NEW = new Set(['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'])

/**
 * DynamoDB in this process, as far as the gateway uses it: every command takes effect at once. It gives what the
 * document client gives; what it stores, it shares with nobody.
 */
export class DynamoModel {
  private readonly tables: ReadonlyMap<string, StoredTable>
  private readonly itemsPerPage: number
  private readonly done = new Map<string, TransactWriteCommandInput['TransactItems']>()

  constructor(
    tables: Readonly<Record<string, TableDefinition>>,
    { itemsPerPage = Number.POSITIVE_INFINITY }: ModelOptions = {},
  ) {
    this.tables = new Map(Object.entries(tables).map(([name, definition]) => [name, new StoredTable(definition)]))
    this.itemsPerPage = itemsPerPage
  }

  /** Carries out one command at once. Throws the SDK's own exceptions. */
  execute(command: DocumentCommand, clientRequestToken?: string): Output {
    if (command instanceof UpdateCommand) return this.write('Update', command.input, OLD_AND_NEW)
    if (command instanceof GetCommand) {
      refuseOthers(command.input, GET_MEMBERS)
      return getItem(this.table(command.input.TableName), command.input)
    }
    if (command instanceof PutCommand) return this.write('Put', command.input, OLD_ONLY)
    if (command instanceof DeleteCommand) return this.write('Delete', command.input, OLD_ONLY)
    if (command instanceof TransactWriteCommand) return this.transact(command.input, clientRequestToken)
    if (command instanceof QueryCommand) {
      refuseOthers(command.input, QUERY_MEMBERS)
      return query(this.table(command.input.TableName), command.input, this.itemsPerPage)
    }
    if (command instanceof ScanCommand) {
      refuseOthers(command.input, SCAN_MEMBERS)
      return scan(this.table(command.input.TableName), command.input, this.itemsPerPage)
    }
    throw unsupported(`the command ${(command as object).constructor.name}`)
  }

  /** The stored items themselves, for looking only. */
  *items(table: string): Iterable<Item> {
    yield* this.table(table).items()
  }

  item(table: string, key: Record<string, string>): Item | undefined {
    const stored = this.table(table)
    return stored.get(keyIn(stored.definition, key))
  }

  private table(name: string | undefined): StoredTable {
    const table = this.tables.get(name ?? '')
    if (!table) throw noSuchTable()
    return table
  }

  private write(
    kind: WriteKind,
    input: WriteInput & { ReturnValues?: string | undefined },
    allowed: ReadonlySet<string>,
  ): Output {
    const { ReturnValues = 'NONE' } = input
    if (!allowed.has(ReturnValues)) throw validationError('Return values set to invalid value')
    const write = this.prepare(kind, input)
    checkGiven(write)
    if (!conditionHolds(write)) throw conditionFailed(oldToShow(write))
    const next = outcomeOf(write)
    const Attributes = returned(write, next, ReturnValues)
    write.table.replace(write.key, write.old, next)
    return Attributes ? { Attributes: copyOfItem(Attributes) } : {}
  }

  private prepare(kind: WriteKind, input: WriteInput): Write {
    refuseOthers(input, WRITE_MEMBERS[kind])
    return prepareWrite(kind, this.table(input.TableName), input)
  }

  /** All or nothing. */
  private transact(input: TransactWriteCommandInput, token = input.ClientRequestToken): Output {
    refuseOthers(input, TRANSACTION_MEMBERS)
    const writes = this.prepareAll(input.TransactItems ?? [])
    const before = token === undefined ? undefined : this.done.get(token)
    if (before) {
      if (before !== input.TransactItems && !isDeepStrictEqual(before, input.TransactItems)) throw tokenReused()
      return {}
    }
    const outcomes = writes.map(tryWrite)
    if (outcomes.some(({ reason }) => reason.Code !== 'None')) {
      throw transactionCanceled(outcomes.map(({ reason }) => reason))
    }
    writes.forEach(({ table, key, old }, i) => {
      table.replace(key, old, outcomes[i]?.next)
    })
    if (token !== undefined) this.done.set(token, input.TransactItems)
    return {}
  }

  private prepareAll(items: NonNullable<TransactWriteCommandInput['TransactItems']>): Write[] {
    if (items.length < 1 || items.length > TRANSACTION_ITEMS) throw validationError('transactItems: wrong length')
    const writes = items.map((item) => {
      const kinds = WRITE_KINDS.filter((kind) => item[kind])
      const [kind] = kinds
      if (!kind || kinds.length > 1)
        throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
      return this.prepare(kind, item[kind] as WriteInput)
    })
    const places = new Map<StoredTable, Set<string>>()
    for (const { table, key } of writes) {
      const seen = places.get(table) ?? new Set()
      const name = `${key.partition}\0${key.sort}`
      if (seen.has(name)) throw validationError('Transaction request cannot include multiple operations on one item')
      places.set(table, seen.add(name))
    }
    return writes
  }
}

function oldToShow({ showsOld, old }: Write): Item | undefined {
  return showsOld && old ? copyOfItem(old) : undefined
}

type Tried = { readonly reason: Reason; readonly next?: Item | undefined }

/** In AWS what is wrong with one item's data is that item's reason. (DynamoDB Local refuses the whole request.) */
function tryWrite(write: Write): Tried {
  try {
    checkGiven(write)
    if (!conditionHolds(write)) return { reason: conditionReason(oldToShow(write)) }
    return { reason: { Code: 'None' }, next: outcomeOf(write) }
  } catch (error) {
    if (!isValidationError(error)) throw error
    return { reason: { Code: 'ValidationError', Message: error.message } }
  }
}
