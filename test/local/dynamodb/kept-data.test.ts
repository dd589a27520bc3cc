import { copyFileSync, mkdtempSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { TABLES } from '../../../layers/gateway/names.ts'
import { Engine } from '../../../local/dynamodb/engine.ts'
import type { Document } from '../../simulation/dynamodb/documents.ts'
import { addTables, executeOn } from '../../simulation/dynamodb/dynamodb-model.ts'

const COMMITS = 40

/** As it was written: one commit after the other, each with a transaction of two items and its token. */
function write(file: string): void {
  const engine = new Engine({ file })
  addTables(engine, TABLES)
  engine.commit()
  for (let n = 1; n <= COMMITS; n++) {
    const Update = {
      TableName: 'keys',
      Key: { pk: 'p', sk: 's' },
      UpdateExpression: 'ADD n :one, big :big',
      ExpressionAttributeValues: { ':one': 1, ':big': new Set([Uint8Array.of(n)]) },
    }
    const Item = { part: 'p', requestId: `r${n}`, of: n, large: 10n ** 30n, bytes: Uint8Array.of(n) }
    const Put = { TableName: 'usage', Item }
    const input = { TransactItems: [{ Update }, { Put }], ClientRequestToken: `t${n}` }
    executeOn(engine, 'TransactWriteItems', input)
    engine.commit()
  }
}

function read(file: string): Engine {
  const engine = new Engine({ file })
  engine.close()
  return engine
}

function itemIn(engine: Engine, TableName: string, Key: object): Document | undefined {
  return executeOn(engine, 'GetItem', { TableName, Key }).Item as Document | undefined
}

/** A copy beside it, with what is not in the file itself yet. */
function copyOf(file: string, name: string): string {
  const copy = join(dirname(file), name)
  copyFileSync(file, copy)
  copyFileSync(`${file}-wal`, `${copy}-wal`)
  return copy
}

test('cut off at any byte, the file has every commit up to some moment, each of them whole', () => {
  const written = join(mkdtempSync(join(tmpdir(), 'waybill-kept-')), 'written')
  write(written)
  const size = statSync(`${written}-wal`).size
  expect(readFileSync(written).length).toBeGreaterThan(0)
  let last = -1
  for (let cut = 0; cut <= size; cut += Math.max(1, Math.floor(size / 300)) + (cut % 7)) {
    const copy = copyOf(written, `cut-${cut}`)
    truncateSync(`${copy}-wal`, cut)
    const n = commitsIn(read(copy))
    expect(n).toBeGreaterThanOrEqual(last)
    last = n
  }
  expect(commitsIn(read(copyOf(written, 'whole')))).toBe(COMMITS)
})

/** How many commits there are; throws unless their items agree. */
function commitsIn(engine: Engine): number {
  let rows: unknown[] = []
  try {
    rows = executeOn(engine, 'Scan', { TableName: 'usage' }).Items as unknown[]
  } catch {
    return 0
  }
  const n = (itemIn(engine, 'keys', { pk: 'p', sk: 's' })?.n ?? 0) as number
  expect(rows).toHaveLength(n)
  return n
}

test('sets, large numbers, bytes, tokens and schemas come back as they were', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'waybill-kept-')), 'data')
  write(file)
  const engine = read(copyOf(file, 'copy'))
  const row = itemIn(engine, 'usage', { part: 'p', requestId: 'r7' })
  expect(row).toMatchObject({ of: 7, large: 10n ** 30n, bytes: Uint8Array.of(7) })
  expect(itemIn(engine, 'keys', { pk: 'p', sk: 's' })?.big).toEqual(
    new Set(Array.from({ length: COMMITS }, (_, i) => Uint8Array.of(i + 1))),
  )
  expect(engine.execute('DescribeTimeToLive', { TableName: 'keys' })).toEqual({
    TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' },
  })
})
