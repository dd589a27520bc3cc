import { parentPort, workerData } from 'node:worker_threads'
import { type DatabaseOptions, openDatabase } from './open-database.ts'

// A thread of its own, so that the gateway's work and the database's do not wait for each other.
const database = await openDatabase(workerData as DatabaseOptions)
parentPort?.once('message', async () => {
  await database[Symbol.asyncDispose]()
  parentPort?.close()
})
parentPort?.postMessage(database.endpoint)
