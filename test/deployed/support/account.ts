import type { CatalogData } from '../../../layers/gateway/domain/routing/catalog.ts'
import { writeCatalog } from '../../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../../layers/gateway/store/dynamodb/database.ts'
import { actAt } from '../../support/act.ts'
import { booksOf, openTestTables } from '../../support/gateway.ts'
import { type DynamoDbProxy, startDynamoDbProxy } from './dynamodb-proxy.ts'
import { type DeployedFunction, type Deployment, synthesize } from './synthesize.ts'

export const ORIGIN_SECRET = 'origin-secret-of-this-test-0123456789abcdef012345'
/** Accepted already, and sent by CloudFront from the next rotation on. */
export const NEXT_ORIGIN_SECRET = 'next-origin-secret-of-this-test-0123456789abcdef'

/** The whole deployment: the stack's functions, over tables of this test. */
export type TestAccount = AsyncDisposable &
  ReturnType<typeof booksOf> & {
    readonly functions: Deployment['functions']
    readonly admin: DeployedFunction
    readonly probe: DeployedFunction
    /** The proxy through which functions reach the tables. */
    readonly dynamodb: DynamoDbProxy
    readonly tables: Tables
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
    ...booksOf(tables),
    async [Symbol.asyncDispose]() {
      await dynamodb[Symbol.asyncDispose]()
      remove()
    },
  }
}
