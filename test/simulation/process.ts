import { type BatchGetCommand, type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { sdkDatabase } from '../support/sdk-database.ts'
import type { Command, Input, Variant } from './commands.ts'
import { modelClient } from './dynamodb/model-client.ts'
import { namedItems } from './dynamodb/named-items.ts'
import type { Message, Network, Sender } from './network.ts'
import type { Random } from './random.ts'

export const TABLE_NAMES = { keys: 'keys', usage: 'usage', answers: 'answers' }

export type CarryOut = (command: Command) => Record<string, unknown>

export type ProcessDeps = {
  readonly network: Network
  readonly carryOut: CarryOut
  readonly nowMs: () => number
  readonly random: Random
  readonly variant: Variant | undefined
}

/** The retries that the clients do by themselves. */
const ATTEMPTS = 3

/** Talks to the database over the network, until it crashes. */
export class SimulatedProcess implements Sender {
  readonly name: string
  alive = true
  /** How many pieces of work it has under way. */
  work = 0
  readonly tables: Tables
  protected readonly deps: ProcessDeps

  constructor(name: string, deps: ProcessDeps) {
    this.name = name
    this.deps = deps
    const { variant } = deps
    const client = (attempts: number): DynamoDBDocumentClient => {
      const send = (command: Command) => this.#send(command, attempts)
      return modelClient((variant?.wrap?.(send as never, name) ?? send) as never)
    }
    this.tables = { database: sdkDatabase(client(ATTEMPTS), client(variant?.attempts ?? 1)), ...TABLE_NAMES }
  }

  /** As the clients: what fails for a while is sent again, but by the one that sends once. */
  async #send(command: Command, attempts: number): Promise<Record<string, unknown>> {
    const { name } = command.constructor
    if (name === 'BatchGetCommand') return this.#readEach(command as never)
    const isTransaction = name.startsWith('Transact')
    const kind = isTransaction ? 'transaction' : /^(Get|Query|Scan)/.test(name) ? 'read' : 'write'
    const label = () => describeCommand(command)
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.message({
          label,
          kind,
          items: kind === 'read' ? [] : namedItems(command.input),
          isSentOnce: attempts === 1 && !isTransaction,
          work: () => this.deps.carryOut(command),
        })) as never
      } catch (error) {
        if (attempt >= attempts || !isTransient(error)) throw error
      }
    }
  }

  /** DynamoDB reads the items of a batch one by one, and whatever else happens may happen between them. */
  async #readEach({ input: { RequestItems } }: BatchGetCommand): Promise<Record<string, unknown>> {
    const [[TableName = '', { Keys = [] } = {}] = []] = Object.entries(RequestItems ?? {})
    const read = (Key: Record<string, unknown>) =>
      this.#send(new GetCommand({ TableName, Key, ConsistentRead: true }), ATTEMPTS)
    const answers = await Promise.all(Keys.map(read))
    return { Responses: { [TableName]: answers.flatMap(({ Item }) => (Item ? [Item] : [])) } }
  }

  protected message(message: Omit<Message, 'from' | 'answer' | 'fail'>): Promise<unknown> {
    return new Promise((answer, fail) => {
      if (this.alive) this.deps.network.waiting.push({ ...message, from: this, answer, fail })
    })
  }
}

function isTransient(error: unknown): boolean {
  return ['TimeoutError', 'ProvisionedThroughputExceededException'].includes((error as Error).name)
}

function describeCommand(command: Command): string {
  const { Key, Item, TransactItems } = command.input as Input
  const put = Item?.requestId ?? Item?.pk ?? `${TransactItems?.length ?? 'many'} items`
  const what = Key ? Object.values(Key).join(' ') : put
  return `${command.constructor.name.replace('Command', '')} ${what}`
}
