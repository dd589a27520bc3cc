import { type CallService, openService } from '../../platform/aws/service.ts'
import { ServiceError } from '../../platform/aws/service-error.ts'
import type { Config, Credentials } from '../../platform/config.ts'
import { type Attributes, fromAttributes, type Input, quoted, writeAttributes, writeInput } from './attribute-values.ts'
import type { Database, Tables, TransactItem } from './database.ts'

/** A database on this machine. Without one the client talks to AWS by AWS's own settings. */
export type LocalEndpoint = {
  readonly endpoint: string
  /** Undefined for a database that accepts any. */
  readonly credentials?: Credentials
}

/** A function has one request at a time, and a client waiting for it. */
const IN_AWS = { connectMs: 1_000, answerMs: 3_000 }
/** On one machine every request shares the connections and the processor with the database itself. */
const ON_THIS_MACHINE = { connectMs: 20_000, answerMs: 20_000 }
export const LOCAL = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

const ATTEMPTS = 3

/** DynamoDB over its own JSON, without AWS's SDK, which takes three times the processor time and code. */
export function dynamoDb(local?: LocalEndpoint): Database {
  const call = openService({
    name: 'dynamodb',
    variable: 'DYNAMODB',
    target: 'DynamoDB_20120810',
    contentType: 'application/x-amz-json-1.0',
    ...(local ? { timeouts: ON_THIS_MACHINE, local: { ...LOCAL, ...local } } : { timeouts: IN_AWS }),
  })

  async function send(operation: string, input: Input): Promise<Output> {
    return call(operation, writeInput(input), { attempts: ATTEMPTS })
  }
  async function change(operation: string, input: Input, options: Parameters<CallService>[2] = { attempts: ATTEMPTS }) {
    try {
      const { Attributes }: Output = await call(operation, writeInput(input), options)
      return { Attributes: Attributes && fromAttributes(Attributes) }
    } catch (error) {
      throw withItem(error)
    }
  }
  async function page(operation: string, input: Input) {
    const { Items = [], LastEvaluatedKey: last } = await send(operation, input)
    return { Items: Items.map(fromAttributes), LastEvaluatedKey: last && fromAttributes(last) }
  }
  return {
    async get(input) {
      const { Item } = await send('GetItem', input)
      return { Item: Item && fromAttributes(Item) }
    },
    put: (input) => change('PutItem', input),
    update: (input) => change('UpdateItem', input),
    updateOnce: (input, signal) => change('UpdateItem', input, { attempts: 1, ...(signal && { signal }) }),
    delete: (input) => change('DeleteItem', input),
    query: (input) => page('Query', input),
    scan: (input) => page('Scan', input),
    async transact({ items, token }, signal) {
      const body = `{"ClientRequestToken":"${token}","TransactItems":[${items.map(writeTransactItem).join(',')}]}`
      await call('TransactWriteItems', body, { attempts: 1, signal })
    },
    async batchGet(TableName, keys) {
      const body = `{"RequestItems":{${quoted(TableName)}:{"ConsistentRead":true,"Keys":[${keys.map(writeAttributes).join(',')}]}}}`
      const { Responses, UnprocessedKeys }: BatchOutput = await call('BatchGetItem', body, { attempts: ATTEMPTS })
      return {
        Items: (Responses?.[TableName] ?? []).map(fromAttributes),
        left: (UnprocessedKeys?.[TableName]?.Keys ?? []).map(fromAttributes),
      }
    },
    control: (operation, input) => call(operation, JSON.stringify(input), { attempts: ATTEMPTS }),
  }
}

function writeTransactItem(item: TransactItem): string {
  const [[kind, input]] = Object.entries(item) as [[string, Input]]
  return `{"${kind}":${writeInput(input)}}`
}

/** The error with the item of a failed condition as a plain item. */
function withItem(error: unknown): unknown {
  if (!(error instanceof ServiceError && error.answer.Item)) return error
  return Object.assign(error, { Item: fromAttributes(error.answer.Item as Attributes) })
}

type Output = {
  readonly Item?: Attributes
  readonly Attributes?: Attributes
  readonly Items?: Attributes[]
  readonly LastEvaluatedKey?: Attributes
}

type BatchOutput = {
  readonly Responses?: Readonly<Record<string, Attributes[]>>
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: Attributes[] }>>
}

export type TableNames = Pick<Config, 'keysTable' | 'usageTable' | 'answersTable'>

export function openTables(names: TableNames, local?: LocalEndpoint): Tables {
  return { database: dynamoDb(local), keys: names.keysTable, usage: names.usageTable, answers: names.answersTable }
}
