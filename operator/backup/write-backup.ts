import { open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GetItemCommand, ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb'
import { isoTime } from '../../layers/gateway/domain/time.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { CLOSING_ITEM } from '../../layers/gateway/store/usage/closing.ts'
import { CliError } from '../terminal/cli-error.ts'
import { type RawItem, toJson } from './item-text.ts'

/** The tables in a backup. Kept answers are not: they live for a day, and only their callers can read them. */
export const KEPT = ['keys', 'usage'] as const
export type Kept = (typeof KEPT)[number]
export type Counts = Record<Kept, number>

export const FORMAT = 1

/** Writes every item as it is read, a line each, to a new file that only its owner may read. */
export async function writeBackup(tables: OperatorTables, file: string, nowMs: number): Promise<Counts> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(error.code === 'EEXIST' ? `There is a file ${file} already.` : error.message)
  })
  const counts: Counts = { keys: 0, usage: 0 }
  try {
    await pipeline(Readable.from(linesOf(tables, nowMs, counts)), handle.createWriteStream())
    return counts
  } catch (error) {
    await rm(file)
    throw error
  }
}

/** The first line identifies the file. The last one has the counts, so that a torn file is recognised. */
async function* linesOf(tables: OperatorTables, nowMs: number, counts: Counts): AsyncGenerator<string> {
  yield line({ waybillBackup: FORMAT, takenAt: isoTime(nowMs) })
  // Read before all else: for a day that is noted as closed, every total is in the table by then.
  const closing = await readClosingItem(tables)
  const isClosing = (item: RawItem) => item.requestId?.S === CLOSING_ITEM.requestId
  for (const table of KEPT) {
    for await (const found of itemsOf(tables, table)) {
      const item = isClosing(found) ? closing : found
      if (!item) continue
      counts[table] += 1
      yield line({ table, item: toJson(item) })
    }
  }
  yield line({ end: counts })
}

/** Page by page, and not as plain values, which have no exact numbers. */
async function* itemsOf({ client, ...tables }: OperatorTables, table: Kept): AsyncGenerator<RawItem> {
  for (let next: Partial<ScanCommandInput> | undefined = {}; next; ) {
    const scan: ScanCommandInput = { TableName: tables[table], ConsistentRead: true, ...next }
    const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand(scan))
    yield* Items
    next = LastEvaluatedKey && { ExclusiveStartKey: LastEvaluatedKey }
  }
}

async function readClosingItem({ client, usage }: OperatorTables): Promise<RawItem | undefined> {
  const Key = { part: { S: CLOSING_ITEM.part }, requestId: { S: CLOSING_ITEM.requestId } }
  return (await client.send(new GetItemCommand({ TableName: usage, Key, ConsistentRead: true }))).Item
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
