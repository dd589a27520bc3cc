import { expect } from '@jest/globals'
import type { Key } from '../../../layers/gateway/domain/key.ts'
import type { UsageRow } from '../../../layers/gateway/domain/usage-row.ts'
import { queryUsageRows } from '../../../layers/gateway/store/usage/query-usage-rows.ts'
import { booksBalance, HELLO, type TestGateway } from '../../support/gateway.ts'

export type ToldError = { readonly message: string; readonly type: string; readonly code: string | null }

/** What a client was told, streamed or whole. */
export type Told = {
  readonly text: string
  readonly error: ToldError | undefined
  /** A stream's `[DONE]`; a whole answer is done if it is a 200. */
  readonly done: boolean
  readonly comments: readonly string[]
}

export type Exchange = Told & {
  readonly key: Key
  readonly secret: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** One chat request by a key of its own. */
export async function exchange(gateway: TestGateway, fields: object = {}): Promise<Exchange> {
  const { key, secret } = await gateway.issue()
  const response = await gateway.post(secret, { ...HELLO, ...fields })
  const body = await response.text()
  const streamed = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const told = streamed ? readFrames(body) : readWhole(response.status, body)
  return { key, secret, status: response.status, headers: response.headers, body, ...told }
}

type Chunk = {
  readonly error?: ToldError
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[]
}

/** Every frame of a stream must be one line of data or one comment, and a blank line. */
export function readFrames(body: string): Told {
  const frames = body.split('\n\n')
  expect(frames.pop()).toBe('')
  expect(frames.filter((frame) => !/^(data: .+|: .+)$/.test(frame))).toEqual([])
  const data = frames.filter((frame) => frame.startsWith('data: ')).map((frame) => frame.slice('data: '.length))
  const done = data.at(-1) === '[DONE]'
  const chunks = data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line) as Chunk)
  const failed = chunks.filter(({ error }) => error)
  expect(failed.length).toBeLessThanOrEqual(1)
  expect(failed[0]).toBe(chunks.findLast(({ error }) => error))
  return {
    text: chunks.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta.content ?? '')).join(''),
    error: failed[0]?.error,
    done,
    comments: frames.filter((frame) => frame.startsWith(': ')).map((frame) => frame.slice(2)),
  }
}

function readWhole(status: number, body: string): Told {
  const answer = JSON.parse(body) as { error?: ToldError; choices?: { message: { content: string | null } }[] }
  const text = (answer.choices ?? []).map(({ message }) => message.content ?? '').join('')
  return { text, error: answer.error, done: status === 200, comments: [] }
}

/** Exactly one row, no hold left, and the key is poorer by what the row says. */
export async function expectBooksClosed(gateway: TestGateway, keyId: string): Promise<UsageRow> {
  const now = Date.now()
  const rows = await Array.fromAsync(
    queryUsageRows(gateway.tables)(keyId, { fromMs: now - 60_000, toMs: now + 60_000 }),
  )
  expect(rows).toHaveLength(1)
  const row = rows[0] as UsageRow
  const key = await gateway.readKey(keyId)
  expect({ holds: key.holds, balance: booksBalance(key), spent: key.spent }).toEqual({
    holds: {},
    balance: true,
    spent: row.cost,
  })
  expect(row.cost).toBeLessThanOrEqual(row.hold)
  return row
}
