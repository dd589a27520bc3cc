import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openInstance } from '../../functions/instance.ts'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { createAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import type { UpdateInput } from '../../layers/gateway/store/dynamodb/database.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/tables.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { listenHere } from '../../local/dynamodb/http-server.ts'
import { actBy } from '../../local/issue-key.ts'
import { createGatewayServer } from '../../local/server.ts'
import { medianOf, number, type Row, withSpread } from '../figures.ts'
import { ask } from '../load.ts'
import type { Stand } from '../stand.ts'
import { prepareTables } from '../waybill.ts'

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
  const instance = openInstance({ tables, config: { ...LOCAL_TABLES, ...BRAND }, log: jsonLog(() => {}) })
  const server = createGatewayServer(Promise.resolve(instance), { countTokens: async () => [] })
  const url = `http://127.0.0.1:${await listenHere(server)}`
  stack.defer(() => void server.close())
  const found = { account: [] as number[], alone: [] as number[] }
  let requests = 0
  for (let round = 1; round <= ROUNDS; round++) {
    stand.say(`accounts: round ${round} of ${ROUNDS}`)
    for (const name of ['alone', 'account'] as const) {
      const headers = callers[name].map(({ secret }) => ({ Authorization: `Bearer ${secret}` }))
      const target = { url: `${url}/v1`, headers }
      const times = (await Promise.all(headers.map((_, caller) => paced(() => ask(target, CHAT, caller))))).flat()
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

async function paced(askOnce: () => Promise<{ readonly wholeMs: number }>): Promise<number[]> {
  const [times, startMs]: [Promise<{ readonly wholeMs: number }>[], number] = [[], performance.now()]
  await sleep(Math.random() * EVERY_MS)
  for (let i = 1; performance.now() - startMs < ROUND_MS; i++) {
    times.push(askOnce())
    await sleep(Math.max(0, startMs + i * EVERY_MS - performance.now()))
  }
  return (await Promise.all(times)).map(({ wholeMs }) => wholeMs)
}
