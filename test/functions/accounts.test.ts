import { expect, test } from '@jest/globals'
import { readBalance } from '../../functions/accounts.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

/** Each request costs one credit, whatever it says, and holds as much. */
const FLAT = { price: { input: '0', output: '0', request: '1' } }
const LOOSE = { rpm: 60_000, maxConcurrent: 1_000 }

const upstream = await openUpstream(say('Hello'))
const catalog = catalogFor(upstream.url, FLAT)
const gateway = await openFor(catalog)
const other = await openFor(catalog, { onSameTables: gateway })
const credits = (text: string) => parseCredits(text) ?? 0n

test('200 requests that race over 8 keys of an account with credit for ten: ten are answered, 190 refused', async () => {
  const account = await gateway.openAccount({ credits: '10' })
  const keys = await Promise.all(Array.from({ length: 8 }, () => gateway.issue({ account, ...LOOSE })))
  const responses = await Promise.all(
    Array.from({ length: 200 }, (_, i) => (i % 2 ? gateway : other).post(keys[i % 8]?.secret ?? '', HELLO)),
  )
  const texts = await Promise.all(responses.map((response) => response.text()))
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  console.log(
    counts,
    texts.find((t) => t.includes('error')),
  )
  expect(counts).toEqual({ 200: 10, 402: 190 })
  const read = await readBalance(gateway.tables)(account.id)
  expect(read?.balance).toEqual({ granted: credits('10'), available: 0n, held: 0n, spent: credits('10') })
})
