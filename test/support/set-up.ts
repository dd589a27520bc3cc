import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDynamoDb } from '../../local/dynamodb-local.ts'
import { startSharedTokenizer } from './shared-tokenizer.ts'

/** What all test files share: one DynamoDB Local, in which each makes its own tables, a tokenizer, and a folder of cloud assemblies. */
export default async function setUp(): Promise<void> {
  await using starting = new AsyncDisposableStack()
  const { endpoint } = await startDynamoDb(null, starting)
  const tokenizer = await startSharedTokenizer(starting)
  const assemblies = mkdtempSync(join(tmpdir(), 'waybill-assemblies-'))
  starting.defer(() => rmSync(assemblies, { recursive: true, force: true }))
  Object.assign(process.env, { TEST_DYNAMODB: endpoint, TEST_TOKENIZER: tokenizer, TEST_ASSEMBLIES: assemblies })
  Object.assign(globalThis, { sharedByTheTests: starting.move() })
}
