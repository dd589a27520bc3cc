import { randomBytes } from 'node:crypto'
import { type Instance, type InstanceOptions, openInstance } from '../../functions/instance.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { type Account, type AccountSettings, newAccount } from '../../layers/gateway/domain/keys/account.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { CountTokens } from '../../layers/gateway/flow/billing/count-texts.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import type { Config } from '../../layers/gateway/platform/config.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { createAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../../layers/gateway/store/dynamodb/create-tables.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { openTables, type TableNames } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { readUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { issueKey } from '../../local/issue-key.ts'
import { createGatewayServer } from '../../local/server.ts'
import { actAt } from './act.ts'
import { intercept } from './intercept.ts'
import { listen } from './listen.ts'
import { sharedTokenizer } from './shared-tokenizer.ts'

export type TestGateway = AsyncDisposable & {
  readonly baseUrl: string
  readonly tables: Tables
  readonly instance: Instance
  /** Every line that was logged. */
  readonly logLines: string[]
  /** The same, read. */
  logged(): Record<string, unknown>[]
  /** The name of every DynamoDB operation that the gateway asked for, with the moment. */
  readonly calls: { readonly name: string; readonly atMs: number }[]
  issue(
    settings?: Partial<KeySettings> & { credits?: string; account?: Account },
  ): Promise<{ key: Key; secret: string }>
  openAccount(settings?: Partial<AccountSettings> & { credits?: string }): Promise<Account>
  readKey(keyId: string): Promise<Key>
  readRow(requestId: string | null | undefined): Promise<UsageRow>
  post(secret: string, body: unknown, headers?: Record<string, string>, path?: string): Promise<Response>
  get(secret: string, path: string): Promise<Response>
  /** Asks once, as `HELLO` with these fields, with a key of its own, whose books must balance afterwards; elsewhere, with a body. */
  ask(fields?: object | string, given?: AskOptions): Promise<Asked>
}

export type AskOptions = Partial<KeySettings> & {
  readonly credits?: string
  readonly headers?: Record<string, string>
  /** In place of a key of its own. */
  readonly secret?: string
  readonly path?: string
}

export type Asked = {
  readonly response: Response
  readonly status: number
  readonly text: string
  /** Empty for an answer. */
  readonly error: { readonly code?: string; readonly message?: string; readonly param?: string | null }
  readonly row: UsageRow
  /** As it is after the answer. */
  readonly key: Key
  readonly secret: string
}

export type TestOptions = Omit<InstanceOptions, 'config' | 'tables' | 'log'> & {
  /** Another instance over the same tables, as AWS starts several. */
  readonly onSameTables?: TestGateway
  /** In place of the tokenizer that all test files share. */
  readonly countTokens?: CountTokens
} & Pick<Config, 'isCompressed' | 'hasUsagePage' | 'isUnattributed' | 'originSecrets' | 'mostAtOnce' | 'topUpUrl'>

/** DynamoDB Local, fresh tables. */
export async function openTestTables(): Promise<Tables> {
  const id = randomBytes(6).toString('hex')
  const tables = connect(id)
  await createTables(tables)
  return tables
}

function connect(id: string): Tables {
  return openAllTables({ keysTable: `keys-${id}`, usageTable: `usage-${id}`, answersTable: `answers-${id}` })
}

export function openAllTables(names: TableNames, endpoint = process.env.TEST_DYNAMODB ?? ''): Tables {
  return openTables(names, { endpoint })
}

/** The same tables, reached by another address. */
export function tablesAt({ keys, usage, answers }: Tables, endpoint: string): Tables {
  return openTables({ keysTable: keys, usageTable: usage, answersTable: answers }, { endpoint })
}

/** The whole gateway on a port of its own: the real functions, real HTTP, real DynamoDB Local. */
export async function openGateway(catalog: CatalogData, options: TestOptions = {}): Promise<TestGateway> {
  const { onSameTables, countTokens = sharedTokenizer, ...given } = options
  const tables = onSameTables ? connect(onSameTables.tables.keys.slice('keys-'.length)) : await openTestTables()
  if (!onSameTables) await writeCatalog(tables)(catalog, actAt())
  const calls: { name: string; atMs: number }[] = []
  intercept(tables, (send, name) => {
    calls.push({ name, atMs: Date.now() })
    return send()
  })
  const logLines: string[] = []
  const config = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers, ...BRAND, ...given }
  const log = jsonLog((line) => logLines.push(line))
  const instance = openInstance({ ...given, config, tables, log })
  const server = createGatewayServer(Promise.resolve(instance), { countTokens })
  const served = await listen(server)
  const baseUrl = served.url
  // Seen through its own connection, so that looking does not count as a call of the gateway.
  const outside = connect(tables.keys.slice('keys-'.length))

  const gateway: TestGateway = {
    baseUrl,
    tables,
    instance,
    logLines,
    logged: () => logLines.map((line) => JSON.parse(line)),
    calls,
    ...booksOf(outside, () => instance.clock()),
    post: (secret, body, headers, path) => postTo(baseUrl, secret, body, headers, path),
    get: (secret, path) => fetch(`${baseUrl}${path}`, { headers: { Authorization: `Bearer ${secret}` } }),
    async ask(fields = {}, { headers, secret: known, path, ...settings } = {}) {
      const secret = known ?? (await gateway.issue({ credits: '1000', ...settings })).secret
      const isWhole = path !== undefined || typeof fields === 'string'
      const response = await gateway.post(secret, isWhole ? fields : { ...HELLO, ...fields }, headers, path)
      const text = await response.text()
      const row = await gateway.readRow(response.headers.get('x-request-id'))
      const key = await gateway.readKey(row.keyId)
      if (!booksBalance(key)) throw new Error(`The books of ${key.id} do not balance.`)
      const { error = {} } = response.ok ? {} : JSON.parse(text)
      return { response, status: response.status, text, error, row, key, secret }
    },
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]()
    },
  }
  return gateway
}

/** A request for a chat, unless another path is given, at the gateway of this address. */
export function postTo(
  baseUrl: string,
  secret: string,
  body: unknown,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
): Promise<Response> {
  return fetch(baseUrl + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Issues keys in these tables, and looks at them and at their rows. */
export function booksOf(
  tables: Tables,
  clock: () => number = Date.now,
): Pick<TestGateway, 'issue' | 'openAccount' | 'readKey' | 'readRow'> {
  return {
    issue: ({ account, credits = account ? '0' : '10', ...settings } = {}) =>
      issueKey(
        tables,
        {
          settings: { ...KEY_DEFAULTS, name: 'test', ...settings },
          credits: parseCredits(credits) ?? 0n,
          prefix: BRAND.keyPrefix,
          by: 'test',
          account,
        },
        clock(),
      ),
    async openAccount({ credits = '10', ...settings } = {}) {
      const granted = parseCredits(credits) ?? 0n
      const account = newAccount({ name: 'acme', ...settings }, granted, clock(), randomBytes(10))
      await createAccount(tables)(account, actAt(clock()))
      return account
    },
    async readKey(keyId) {
      const key = await readKey(tables)(keyId)
      if (!key) throw new Error(`no key ${keyId}`)
      return key
    },
    async readRow(requestId) {
      const row = await readUsageRow(tables)(requestId ?? '')
      if (!row) throw new Error(`no row for ${requestId}`)
      return row
    },
  }
}

/** A catalog with one model, `test-model`, at one upstream. Prices: 1 and 2 credits per million tokens. */
export function catalogFor(upstreamUrl: string, model: object = {}, provider: object = {}): CatalogData {
  return requireCatalog({
    providers: { up: { type: 'openai', baseUrl: upstreamUrl, ...provider } },
    models: [
      {
        id: 'test-model',
        contextLength: 1_000_000,
        maxOutputTokens: 1000,
        price: { input: '1', output: '2', cachedInput: '0.5' },
        routes: [{ provider: 'up', model: 'upstream-model' }],
        ...model,
      },
    ],
  })
}

export const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] }

/** The books of one key: what was granted is all somewhere. */
export function booksBalance(key: Key): boolean {
  const held = Object.values(key.holds).reduce((sum, { amount }) => sum + amount, 0n)
  return key.granted === key.available + held + key.spent && key.available >= 0n
}
