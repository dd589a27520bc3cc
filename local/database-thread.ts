import { randomBytes } from 'node:crypto'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Credentials } from '../layers/gateway/platform/config.ts'
import type { LocalEndpoint } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'
import type { DatabaseOptions } from './dynamodb/open-database.ts'

// TypeScript in a clone, JavaScript in a package.
const FILE = new URL(`dynamodb/worker${extname(import.meta.url)}`, import.meta.url)

export const LOCAL_TABLES = {
  keysTable: 'waybill-local-keys',
  usageTable: 'waybill-local-usage',
  answersTable: 'waybill-local-answers',
}

export type LocalDatabase = LocalEndpoint & {
  /** Rejects if the database ends before it is told to. */
  readonly ended: Promise<never>
}

export function freshCredentials(): Credentials {
  return { accessKeyId: 'waybill', secretAccessKey: randomBytes(30).toString('hex') }
}

export async function startDatabase(options: DatabaseOptions, stack: AsyncDisposableStack): Promise<LocalDatabase> {
  const { credentials } = options
  const worker = new Worker(FILE, { workerData: options, env: {}, execArgv: ['--disable-warning=ExperimentalWarning'] })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const ended = new Promise<never>((_, reject) => {
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('its thread ended')))
  })
  ended.catch(() => {})
  stack.defer(async () => {
    worker.postMessage('end')
    await exited
  })
  const endpoint = await Promise.race([new Promise<string>((resolve) => worker.once('message', resolve)), ended])
  return { endpoint, ...(credentials && { credentials }), ended }
}
