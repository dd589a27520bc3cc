import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDynamoDb } from '../../local/dynamodb-local.ts'

/** What all test files share: one DynamoDB Local, in which each makes its own tables, and a folder of cloud assemblies. */
export default async function setUp(): Promise<void> {
  const shared = new AsyncDisposableStack()
  // Memory is cheaper than time here: a small heap is collected again and again, by threads that the tests need.
  const { JAVA_TOOL_OPTIONS: wanted } = process.env
  process.env.JAVA_TOOL_OPTIONS = wanted ?? '-XX:+UseSerialGC -Xms512m -Xmn256m'
  const { endpoint } = await startDynamoDb(null, shared)
  if (wanted === undefined) delete process.env.JAVA_TOOL_OPTIONS
  const assemblies = mkdtempSync(join(tmpdir(), 'waybill-assemblies-'))
  shared.defer(() => rmSync(assemblies, { recursive: true, force: true }))
  Object.assign(process.env, { TEST_DYNAMODB: endpoint, TEST_ASSEMBLIES: assemblies })
  Object.assign(globalThis, { sharedByTheTests: shared })
}
