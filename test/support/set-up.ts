import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDynamoDb } from '../../local/dynamodb-local.ts'

/** What all test files share: one DynamoDB Local, in which each makes its own tables, and a folder of cloud assemblies. */
export default async function setUp(): Promise<void> {
  const shared = new AsyncDisposableStack()
  const { endpoint } = await startDynamoDb(null, shared)
  const assemblies = mkdtempSync(join(tmpdir(), 'waybill-assemblies-'))
  shared.defer(() => rmSync(assemblies, { recursive: true, force: true }))
  Object.assign(process.env, { TEST_DYNAMODB: endpoint, TEST_ASSEMBLIES: assemblies })
  Object.assign(globalThis, { sharedByTheTests: shared })
}
