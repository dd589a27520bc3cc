import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { LocalEndpoint } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'
import type { DatabaseOptions } from './dynamodb/open-database.ts'

const FILE = new URL('dynamodb/worker.ts', import.meta.url)

export type LocalDatabase = LocalEndpoint & {
  /** Rejects if the database ends before it is told to. */
  readonly ended: Promise<never>
}

/** Starts our own database in a thread, with a password that only this process has; in memory if there is no file. */
export async function startDatabase(file: string | null, stack: AsyncDisposableStack): Promise<LocalDatabase> {
  const credentials = { accessKeyId: 'waybill', secretAccessKey: randomBytes(30).toString('hex') }
  const worker = new Worker(FILE, {
    workerData: { credentials, file } satisfies DatabaseOptions,
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
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
  return { endpoint, credentials, ended }
}
