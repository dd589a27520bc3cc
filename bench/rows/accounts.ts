import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { createAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import type { UpdateInput } from '../../layers/gateway/store/dynamodb/database.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { actBy } from '../../local/issue-key.ts'
import { medianOf, number, type Row, withSpread } from '../figures.ts'
import { ask, paced, type Timing } from '../load.ts'
import type { Stand } from '../stand.ts'
import { openGateway, prepareTables } from '../waybill.ts'

const KEYS = 10
const EVERY_MS = 50
const ROUNDS = 9
const ROUND_MS = 20_000
const CHAT = { model: 'one-chunk', stream: false } as const

/** Ten keys at twenty requests a second each, for three minutes: with one balance, and in turns with a balance each. */
export async function accounts(stand: Stand): Promise<{ rows: Row[] }> {
  await using stack = new AsyncDisposableStack()
  const [endpoint, upstream] = [await stand.dynamodb(), await stand.upstreamUrl()]
  const tables = openTables(LOCAL_TABLES, { endpoint })
  await prepareTables(endpoint, upstream)
  const account = newAccount({ name: 'bench' }, parseCredits('1000') ?? 0n, Date.now(), randomBytes(10))
  await createAccount(tables)(account, actBy('bench'))
  const makeKeys = (of?: typeof account) =>
    Promise.all(Array.from({ length: KEYS }, () => prepareTables(endpoint, upstream, of)))
  const callers = { account: await makeKeys(account), alone: await makeKeys() }
  let moves = 0
  const { update } = tables.database
  Object.assign(tables.database, {
    update: (input: UpdateInput) => {
      // The two writes of a transfer, and no others of a request.
      if (/drawn = |seen = /.test(input.UpdateExpression)) moves += 1
      return update(input)
    },
  })
  const url = await openGateway(tables, stack)
  const found = { account: [] as number[], alone: [] as number[] }
  let requests = 0
  for (let round = 1; round <= ROUNDS; round++) {
    stand.say(`accounts: round ${round} of ${ROUNDS}`)
    for (const name of ['alone', 'account'] as const) {
      const headers = callers[name].map(({ secret }) => ({ Authorization: `Bearer ${secret}` }))
      const target = { url, headers }
      const times = (await Promise.all(headers.map((_, caller) => oneKey(() => ask(target, CHAT, caller))))).flat()
      if (name === 'account') requests += times.length
      found[name].push(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN)
    }
  }
  const ratio = medianOf(found.account.map((ms, i) => ms / (found.alone[i] ?? Number.NaN)))
  const p99 = `p99 ${withSpread(found.account, 'ms')}, **${number(ratio)}×** that of ten keys alone`
  const writes = `${(moves / requests).toFixed(4)} further writes a request`
  return {
    rows: [
      { what: 'ten keys of one account at 20 requests a second each, three minutes', waybill: `${p99}; ${writes}` },
    ],
  }
}

async function oneKey(askOnce: () => Promise<Timing>): Promise<number[]> {
  await sleep(Math.random() * EVERY_MS)
  return (await paced(askOnce, EVERY_MS, ROUND_MS)).map(({ wholeMs }) => wholeMs)
}
