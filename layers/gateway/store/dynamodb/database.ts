/** An item, or a part of one, in plain values. */
export type Item = Record<string, unknown>

type Names = { readonly ExpressionAttributeNames?: Record<string, string> }
type Placeholders = Names & { readonly ExpressionAttributeValues?: Item }

export type GetInput = Names & {
  readonly TableName: string
  readonly Key: Item
  readonly ConsistentRead?: boolean
  readonly ProjectionExpression?: string
}

type WriteInput = Placeholders & {
  readonly TableName: string
  readonly ConditionExpression?: string
  /** Set if the error of a failed condition shall contain the item. */
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
}

export type PutInput = WriteInput & { readonly Item: Item }
type DeleteInput = WriteInput & { readonly Key: Item }
export type UpdateInput = DeleteInput & {
  readonly UpdateExpression: string
  readonly ReturnValues?: 'ALL_NEW' | 'UPDATED_NEW'
}

export type QueryInput = Placeholders & {
  readonly TableName: string
  readonly IndexName?: string
  readonly KeyConditionExpression: string
  readonly ConsistentRead?: boolean
  readonly ScanIndexForward?: boolean
  readonly ExclusiveStartKey?: Item
  readonly ProjectionExpression?: string
  readonly Limit?: number
}

type ScanInput = Omit<QueryInput, 'KeyConditionExpression'> & { readonly FilterExpression?: string }

export type TransactItem =
  | { readonly Put: PutInput }
  | { readonly Update: UpdateInput }
  | { readonly Delete: DeleteInput }
  | { readonly ConditionCheck: DeleteInput & { readonly ConditionExpression: string } }

/** `token`: DynamoDB recognises a transaction that is sent again by it, and makes it once. */
type Transaction = { readonly items: readonly TransactItem[]; readonly token: string }

type Page = { readonly Items?: Item[] | undefined; readonly LastEvaluatedKey?: Item | undefined }
type WriteOutput = { readonly Attributes?: Item | undefined }

/** The operations of DynamoDB that the functions use, with plain values. conditional-writes.ts reads their errors. */
export type Database = {
  get(input: GetInput): Promise<{ readonly Item?: Item | undefined }>
  put(input: PutInput): Promise<WriteOutput>
  update(input: UpdateInput): Promise<WriteOutput>
  /** Sent once and never again by itself, for a write that must not land a second time, later. */
  updateOnce(input: UpdateInput, signal?: AbortSignal): Promise<WriteOutput>
  delete(input: DeleteInput): Promise<WriteOutput>
  query(input: QueryInput): Promise<Page>
  /** Reads a whole table, for work that is done once a day. */
  scan(input: ScanInput): Promise<Page>
  /** Makes all of the writes or none, sent once. */
  transact(transaction: Transaction, signal: AbortSignal): Promise<void>
  /** DynamoDB may leave keys of a batch unread, and says which. */
  batchGet(TableName: string, keys: readonly Item[]): Promise<{ readonly Items: Item[]; readonly left: Item[] }>
  /** An operation on tables themselves, whose input and answer are plain JSON. */
  control(operation: string, input: object): Promise<Readonly<Record<string, unknown>>>
}

/** The most items of a page, if a reader that might have stopped soon has not. */
const MOST_IN_PAGE = 500

/** A page that is not the first may have twice as many items. `isAhead`, for a reader of all items: the next page is on its way while this one is worked on. */
export function queryItems<T = Item>(database: Database, input: QueryInput, read: Read<T> = asItIs, isAhead = false) {
  const { Limit: first } = input
  const limited = (pages: number) => first && { Limit: Math.max(first, Math.min(first * 2 ** pages, MOST_IN_PAGE)) }
  return itemsOf((next, pages) => database.query({ ...input, ...next, ...limited(pages) }), read, isAhead)
}

export function scanItems<T = Item>(database: Database, input: ScanInput, read: Read<T> = asItIs) {
  return itemsOf((next) => database.scan({ ...input, ...next }), read, false)
}

type Read<T> = (item: Item) => T

const asItIs = <T>(item: Item) => item as T

export function itemReader<Parts extends unknown[], T>(
  database: Database,
  TableName: string,
  keyOf: (...parts: Parts) => Item,
  read: Read<T>,
) {
  return async (...parts: Parts): Promise<T | undefined> => {
    const { Item } = await database.get({ TableName, Key: keyOf(...parts), ConsistentRead: true })
    return Item && read(Item)
  }
}

type ReadPage = (next: { readonly ExclusiveStartKey?: Item }, pages: number) => Promise<Page>

async function* itemsOf<T>(readPage: ReadPage, read: Read<T>, isAhead: boolean): AsyncGenerator<T, void, undefined> {
  let pages = 0
  for (let page: Promise<Page> | undefined = readPage({}, pages); page; ) {
    const { Items = [], LastEvaluatedKey: last }: Page = await page
    const readNext = (): Promise<Page> | undefined => last && readPage({ ExclusiveStartKey: last }, ++pages)
    page = isAhead ? readNext() : undefined
    // A failure is thrown when the page's turn comes.
    page?.catch(() => {})
    for (const item of Items) yield read(item)
    page ??= readNext()
  }
}

export type Tables = {
  readonly database: Database
  readonly keys: string
  readonly usage: string
  readonly answers: string
}
