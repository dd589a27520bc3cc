import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDatabase } from '../../local/database-thread.ts'
import { startDynamoDbLocal } from './dynamodb-local.ts'
import { startSharedTokenizer } from './shared-tokenizer.ts'

/**
 * The parts that all test files share: one database, in which each makes its own tables, a tokenizer, and a folder of
 * cloud assemblies.
 */
export default async function setUp(): Promise<void> {
  await using starting = new AsyncDisposableStack()
  const { endpoint } = await startTestDatabase(starting)
  const tokenizer = await startSharedTokenizer(starting)
  const assemblies = mkdtempSync(join(tmpdir(), 'waybill-assemblies-'))
  starting.defer(() => rmSync(assemblies, { recursive: true, force: true }))
  Object.assign(process.env, { TEST_DYNAMODB: endpoint, TEST_TOKENIZER: tokenizer, TEST_ASSEMBLIES: assemblies })
  Object.assign(globalThis, { sharedByTheTests: starting.move() })
}

/** Our own in memory, open to all; Amazon's with TEST_DATABASE=amazon. */
async function startTestDatabase(starting: AsyncDisposableStack): Promise<{ endpoint: string }> {
  if (process.env.TEST_DATABASE === 'amazon') return startDynamoDbLocal(starting)
  return startDatabase({ credentials: null, file: null }, starting)
}
