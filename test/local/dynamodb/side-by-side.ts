import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { type DynamoDBDocumentClient, paginateScan, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { TABLES } from '../../../layers/gateway/names.ts'
import type { Tables } from '../../../layers/gateway/store/dynamodb/database.ts'
import { type DocumentCommand, DynamoModel } from '../../simulation/dynamodb/dynamodb-model.ts'
import { modelClient } from '../../simulation/dynamodb/model-client.ts'

type Output = Record<string, unknown>
type Outcome = { readonly output: Output } | { readonly error: unknown }

const COUNTED = ['ADD', 'DELETE', 'contains', 'UPDATED_NEW']

export type SdkTables = Tables & { readonly client: DynamoDBDocumentClient }

export class Mismatch extends Error {}

/** Amazon's DynamoDB Local, our database and the simulator's: every command goes to all, and they must say the same. */
export class SideBySide {
  /** Amazon's. */
  readonly local: SdkTables
  readonly ours: SdkTables
  readonly model: DynamoModel
  readonly modelOnly: DynamoDBDocumentClient
  /** How often each kind of answer was given, the same by both. */
  readonly answers: Record<string, number> = {}
  commands = 0

  /** The tables have the same names on both sides. */
  constructor(local: SdkTables, ours: SdkTables) {
    this.local = local
    this.ours = ours
    const { keys, usage, answers } = local
    this.model = new DynamoModel({ [keys]: TABLES.keys, [usage]: TABLES.usage, [answers]: TABLES.answers })
    this.modelOnly = modelClient(async (command) => this.model.execute(command))
  }

  /** Returns the answer of DynamoDB Local. */
  async send(command: DocumentCommand): Promise<Output> {
    this.commands += 1
    const local = await outcomeOf(() => this.local.client.send(command as ScanCommand) as Promise<Output>)
    const ours = await outcomeOf(() => this.ours.client.send(command as ScanCommand) as Promise<Output>)
    const model = await outcomeOf(async () => this.model.execute(command))
    const order = orderOf(command)
    const expected = answerOf(local, order)
    this.compare(command, expected, answerOf(ours, order), 'our database')
    this.compare(command, expected, answerOf(model, order), 'the simulator')
    const ending = 'error' in local ? nameOf(local.error) : 'done'
    for (const what of [command.constructor.name, ...wordsIn(command)]) {
      const kind = `${what}: ${ending}`
      this.answers[kind] = (this.answers[kind] ?? 0) + 1
    }
    if ('error' in local) throw local.error
    return local.output
  }

  /** A scan to its end, page by page. The order of a scan means nothing, so each side follows its own. */
  async scanInPages(input: ScanCommandInput): Promise<void> {
    const expected = await pagesOf(this.local.client, input)
    this.commands += expected.scanned.length
    this.compare(input, expected, await pagesOf(this.ours.client, input), 'our database')
    this.compare(input, expected, await pagesOf(this.modelOnly, input), 'the simulator')
  }

  async compareContents(): Promise<void> {
    for (const TableName of [this.local.keys, this.local.usage, this.local.answers]) {
      const whole = { TableName, ConsistentRead: true }
      const { items } = await pagesOf(this.local.client, whole)
      this.compare({ contents: TableName }, items, (await pagesOf(this.ours.client, whole)).items, 'our database')
      this.compare({ contents: TableName }, items, (await pagesOf(this.modelOnly, whole)).items, 'the simulator')
    }
  }

  private compare(asked: unknown, local: unknown, other: unknown, name: string): void {
    const [expected, actual] = [canonical(local), canonical(other)]
    if (expected === actual) return
    const what = asked instanceof Object && 'input' in asked ? { [asked.constructor.name]: asked.input } : asked
    throw new Mismatch(`${canonical(what)}\n  DynamoDB Local: ${expected}\n  ${name}: ${actual}`)
  }
}

/** The words of a command's expressions that deserve a count of their own. */
function wordsIn({ input }: DocumentCommand): string[] {
  const text = Object.values(input).filter((member) => typeof member === 'string')
  return COUNTED.filter((word) => text.some((member) => member.includes(word)))
}

async function outcomeOf(send: () => Promise<Output>): Promise<Outcome> {
  try {
    return { output: await send() }
  } catch (error) {
    return { error }
  }
}

/** The attribute by which the items of an answer are in order; those that have the same come in any order. */
type Order = { readonly by: string | undefined }

/** Undefined where the whole order is told: no two items of a table have the same key. */
function orderOf(command: DocumentCommand): Order | undefined {
  if (command instanceof ScanCommand) return { by: undefined }
  const { input } = command
  const index = INDEXES.find(({ name }) => 'IndexName' in input && name === input.IndexName)
  return index && { by: index.sortKey }
}

const INDEXES = [...TABLES.keys.indexes, ...TABLES.usage.indexes]

function answerOf(outcome: Outcome, order: Order | undefined): unknown {
  if ('error' in outcome) return answerOfError(outcome.error)
  // DynamoDB Local tells of capacity without being asked, now and then.
  const { $metadata, ConsumedCapacity, ...output } = outcome.output
  if (!order) return withSortedLists(output)
  const { Items: items } = output as { Items?: Output[] }
  const { by } = order
  if (!items) return output
  return { ...output, Items: items.map(canonical).sort(), ...(by && { order: items.map((item) => item[by]) }) }
}

/** The items of a batch come in any order. */
function withSortedLists(output: Output): Output {
  const { Responses } = output as { Responses?: Record<string, unknown[]> }
  if (!Responses || Array.isArray(Responses)) return output
  const sorted = Object.entries(Responses).map(([table, items]) => [table, items.map(canonical).sort()])
  return { ...output, Responses: Object.fromEntries(sorted) }
}

function answerOfError(error: unknown): unknown {
  if (error instanceof ConditionalCheckFailedException) {
    return { error: error.name, message: error.message, item: error.Item && unmarshall(error.Item) }
  }
  if (!(error instanceof TransactionCanceledException)) return { error: nameOf(error) }
  const reasons = error.CancellationReasons ?? []
  // In AWS these are reasons of a canceled transaction; DynamoDB Local refuses the whole request with most of them.
  if (reasons.some(({ Code }) => Code === 'ValidationError')) return { error: 'ValidationException' }
  return { error: error.name, reasons: reasons.map(({ Code, Item }) => ({ Code, item: Item && unmarshall(Item) })) }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' || error instanceof TypeError ? `${error.name}: ${error.message}` : error.name
}

async function pagesOf(client: DynamoDBDocumentClient, input: ScanCommandInput) {
  const items: string[] = []
  const scanned: unknown[] = []
  // A copy, since the paginator writes into what it is given.
  for await (const page of paginateScan({ client }, { ...input })) {
    items.push(...(page.Items ?? []).map(canonical))
    scanned.push(page.ScannedCount)
  }
  return { items: items.sort(), scanned }
}

/** One text for one value: names and elements of sets sorted, types told apart that JSON confuses. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (ArrayBuffer.isView(value))
    return `bytes(${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')})`
  if (value instanceof Set) return `set(${[...value].map(canonical).sort().join(', ')})`
  if (Array.isArray(value)) return `[${value.map(canonical).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}: ${canonical(member)}`)
    .join(', ')}}`
}
