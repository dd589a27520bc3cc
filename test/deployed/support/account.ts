import type { Key } from '../../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../../layers/gateway/domain/keys/key-settings.ts'
import { KEY_DEFAULTS } from '../../../layers/gateway/domain/keys/new-key.ts'
import { parseCredits } from '../../../layers/gateway/domain/money/money.ts'
import type { CatalogData } from '../../../layers/gateway/domain/routing/catalog.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND } from '../../../layers/gateway/names.ts'
import { writeCatalog } from '../../../layers/gateway/store/catalog/write-catalog.ts'
import { readKey } from '../../../layers/gateway/store/keys/read-key.ts'
import { readUsageRow } from '../../../layers/gateway/store/rows/usage-rows.ts'
import type { OperatorTables } from '../../../layers/gateway/store/sdk/operator-tables.ts'
import { issueKey } from '../../../local/issue-key.ts'
import { actAt } from '../../support/act.ts'
import { openTestTables } from '../../support/gateway.ts'
import { type DynamoDbProxy, startDynamoDbProxy } from './dynamodb-proxy.ts'
import { type DeployedFunction, type Deployment, synthesize } from './synthesize.ts'

export const ORIGIN_SECRET = 'origin-secret-of-this-test-0123456789abcdef012345'
/** Accepted already, and sent by CloudFront from the next rotation on. */
export const NEXT_ORIGIN_SECRET = 'next-origin-secret-of-this-test-0123456789abcdef'

/** The whole deployment: the stack's functions, over tables of this test. */
export type TestAccount = AsyncDisposable & {
  readonly functions: Deployment['functions']
  readonly admin: DeployedFunction
  readonly probe: DeployedFunction
  /** The proxy through which functions reach the tables. */
  readonly dynamodb: DynamoDbProxy
  readonly tables: OperatorTables
  issue(settings?: Partial<KeySettings> & { credits?: string }): Promise<{ key: Key; secret: string }>
  readKey(keyId: string): Promise<Key>
  readRow(requestId: string | undefined): Promise<UsageRow>
}

export async function openAccount(catalog: CatalogData): Promise<TestAccount> {
  const tables = await openTestTables()
  const { keys, usage, answers } = tables
  const names = { keys, usage, answers, originSecret: ORIGIN_SECRET, nextOriginSecret: NEXT_ORIGIN_SECRET }
  const [{ functions, optional, remove }, dynamodb] = await Promise.all([
    synthesize(names),
    startDynamoDbProxy(process.env.TEST_DYNAMODB ?? ''),
    writeCatalog(tables)(catalog, actAt()),
  ])
  return {
    functions,
    ...optional,
    dynamodb,
    tables,
    issue: ({ credits = '10', ...settings } = {}) =>
      issueKey(
        tables,
        {
          settings: { ...KEY_DEFAULTS, name: 'test', ...settings },
          credits: parseCredits(credits) ?? 0n,
          prefix: BRAND.keyPrefix,
          by: 'test',
        },
        Date.now(),
      ),
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
    async [Symbol.asyncDispose]() {
      await dynamodb[Symbol.asyncDispose]()
      tables.client.destroy()
      remove()
    },
  }
}
