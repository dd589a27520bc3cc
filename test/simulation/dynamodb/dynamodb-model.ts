import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  IdempotentParameterMismatchException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import type {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { TableDefinition } from '../../../layers/gateway/names.ts'
import { createTableInput } from '../../../layers/gateway/store/dynamodb/create-tables.ts'
import { Engine } from '../../../local/dynamodb/engine.ts'
import { DynamoDbError, type Reason } from '../../../local/dynamodb/failures.ts'
import type { Members } from '../../../local/dynamodb/members.ts'
import type { Item } from '../../../local/dynamodb/values.ts'
import { convertItems, type Document, itemFromDocument, toDocument } from './documents.ts'

export type DocumentCommand =
  | GetCommand
  | PutCommand
  | UpdateCommand
  | DeleteCommand
  | TransactWriteCommand
  | QueryCommand
  | ScanCommand
  | BatchGetCommand

const OPERATIONS: Readonly<Record<string, string>> = {
  GetCommand: 'GetItem',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  TransactWriteCommand: 'TransactWriteItems',
  QueryCommand: 'Query',
  ScanCommand: 'Scan',
  BatchGetCommand: 'BatchGetItem',
}

export function addTables(engine: Engine, tables: Readonly<Record<string, TableDefinition>>): void {
  for (const [name, definition] of Object.entries(tables)) {
    engine.execute('CreateTable', createTableInput(name, definition))
    const TimeToLiveSpecification = { AttributeName: definition.timeToLive, Enabled: true }
    engine.execute('UpdateTimeToLive', { TableName: name, TimeToLiveSpecification })
  }
}

/** Carries out a command whose items are documents. */
export function executeOn(engine: Engine, operation: string, input: Members): Record<string, unknown> {
  return convertItems(engine.execute(operation, convertItems(input, itemFromDocument)), toDocument)
}

/**
 * The local database's engine behind the commands of the document client, without a line or a file between them: it
 * returns the client's answers, and throws the SDK's own exceptions. No test shares its data.
 */
export class DynamoModel {
  private readonly engine: Engine

  constructor(tables: Readonly<Record<string, TableDefinition>>, clock?: () => number) {
    this.engine = new Engine(clock && { clock })
    addTables(this.engine, tables)
  }

  /** Carries out one command at once. */
  execute(command: DocumentCommand): Record<string, unknown> {
    const operation = OPERATIONS[command.constructor.name] ?? command.constructor.name
    try {
      return executeOn(this.engine, operation, command.input as Members)
    } catch (error) {
      throw error instanceof DynamoDbError ? exceptionOf(error) : error
    } finally {
      this.engine.commit()
    }
  }

  /** A stored item. */
  item(TableName: string, key: Document): Document | undefined {
    return executeOn(this.engine, 'GetItem', { TableName, Key: key }).Item as Document | undefined
  }
}

const $metadata = {}

function exceptionOf(error: DynamoDbError): DynamoDBServiceException {
  const { name, message } = error
  const detail: { readonly Item?: Item; readonly CancellationReasons?: readonly Reason[] } = error.detail
  const raw = (item: Item) => marshall(toDocument(item) as Record<string, unknown>)
  switch (name) {
    case 'ConditionalCheckFailedException':
      return new ConditionalCheckFailedException({ $metadata, message, ...(detail.Item && { Item: raw(detail.Item) }) })
    case 'TransactionCanceledException': {
      const reasons = (detail.CancellationReasons ?? []).map(({ Item: item, ...reason }) => {
        return item ? { ...reason, Item: raw(item as Item) } : reason
      })
      return new TransactionCanceledException({ $metadata, message, CancellationReasons: reasons })
    }
    case 'IdempotentParameterMismatchException':
      return new IdempotentParameterMismatchException({ $metadata, message })
    case 'ResourceNotFoundException':
      return new ResourceNotFoundException({ $metadata, message })
    default:
      return new DynamoDBServiceException({ name, $fault: 'client', $metadata, message })
  }
}
