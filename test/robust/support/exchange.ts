import { expect } from '@jest/globals'
import type { Key } from '../../../layers/gateway/domain/keys/key.ts'
import { formatCredits } from '../../../layers/gateway/domain/money/money.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { queryUsageRows } from '../../../layers/gateway/store/rows/usage-rows.ts'
import { booksBalance, type TestGateway } from '../../support/gateway.ts'
import { readTold, SPEECH, type Spoken, type Told } from './spoken.ts'

export type Exchange = Told & {
  readonly contract: Spoken
  /** True if it came as a stream. */
  readonly isStream: boolean
  readonly key: Key
  readonly secret: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** One request by a key of its own, in chat's words unless it is told. The fields are chat's. */
export async function exchange(
  gateway: TestGateway,
  fields: object = {},
  contract: Spoken = 'chat',
): Promise<Exchange> {
  const { path, ask } = SPEECH[contract]
  const { key, secret } = await gateway.issue()
  const response = await gateway.post(secret, ask({ ...fields }), {}, path)
  const body = await response.text()
  const { status, headers } = response
  return { contract, key, secret, status, headers, body, ...readTold(contract, response, body) }
}

/** Anthropic's types of the errors that an upstream causes; it has no codes. */
const MESSAGE_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  413: 'request_too_large',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** An error with this status and code, as the contract that was spoken says it. */
export function expectError({ contract, error }: Exchange, status: number, code: string | null): void {
  expect(error?.message).toEqual(expect.any(String))
  if (contract === 'messages') expect(error?.type).toBe(MESSAGE_TYPES[status])
  else expect(error?.code).toBe(code)
}

/** Nothing was delivered, and it is told by a status. `isPaid`: the upstream had accepted the request, so it is charged. */
export async function expectFailed(
  gateway: TestGateway,
  asked: Exchange,
  status: number,
  code: string | null,
  isPaid = false,
): Promise<void> {
  expect(asked.status).toBe(status)
  expectError(asked, status, code)
  const row = await expectBooksClosed(gateway, asked.key.id)
  const outcome = status < 500 ? 'refused' : 'upstream_error'
  expect(row).toMatchObject({ contract: asked.contract, httpStatus: status, outcome })
  expect(asked.headers.get('x-svc-cost')).toBe(formatCredits(row.cost))
  expect(row.cost > 0n).toBe(isPaid)
}

/** The rows of a key, the newest first: no hold is left, and the key is poorer by what they say. */
export async function closedBooks(gateway: TestGateway, keyId: string): Promise<UsageRow[]> {
  const key = await gateway.readKey(keyId)
  const range = { fromMs: key.createdAtMs, toMs: Date.now() + 60_000 }
  const rows = await Array.fromAsync(queryUsageRows(gateway.tables)(keyId, range))
  const spent = rows.reduce((sum, { cost }) => sum + cost, 0n)
  expect([key.holds, booksBalance(key), key.spent]).toEqual([{}, true, spent])
  for (const row of rows) expect(row.cost).toBeLessThanOrEqual(row.hold)
  return rows
}

/** Exactly one row, no hold left, and the key is poorer by what the row says. */
export async function expectBooksClosed(gateway: TestGateway, keyId: string): Promise<UsageRow> {
  const rows = await closedBooks(gateway, keyId)
  expect(rows).toHaveLength(1)
  return rows[0] as UsageRow
}
