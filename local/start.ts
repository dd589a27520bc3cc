import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Instance, openInstance } from '../functions/instance.ts'
import { createSweep } from '../functions/sweep/create.ts'
import { readVariable } from '../layers/gateway/config.ts'
import { BRAND, SWEEP_EVERY_MINUTES } from '../layers/gateway/contract.ts'
import { newAct } from '../layers/gateway/domain/act.ts'
import { readStoredCatalog } from '../layers/gateway/store/catalog/read-stored-catalog.ts'
import { writeCatalog } from '../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../layers/gateway/store/create-tables.ts'
import { openOperatorTables } from '../layers/gateway/store/operator-tables.ts'
import { openTables } from '../layers/gateway/store/tables.ts'
import { CliError } from '../operator/cli-error.ts'
import { localConnection } from '../operator/connect.ts'
import { startConsole } from '../operator/console/start-console.ts'
import { LOCAL_FILE, LOCAL_FOLDER, LOCAL_TABLES, type LocalFile } from '../operator/local-gateway.ts'
import { localKeys, namedVariables } from '../operator/local-keys.ts'
import { outputOf, thisTerminal } from '../operator/terminal.ts'
import { checkedCatalog } from './checked-catalog.ts'
import { demoKey } from './demo-key.ts'
import { startDynamoDb } from './dynamodb-local.ts'
import { startEcho } from './echo-upstream.ts'
import { humanLog } from './human-log.ts'
import { endLeftDatabases, forgetDatabase, noteDatabase } from './left-databases.ts'
import { loadLocalCatalog } from './load-local-catalog.ts'
import { paintFor } from './paint.ts'
import { privateFolder } from './private-folder.ts'
import { createGatewayServer } from './server.ts'
import type { LocalSettings } from './settings.ts'
import { welcome } from './welcome.ts'

/** Starts everything; what must end again is put on `stack` the moment it exists. Throws a CliError. */
export async function start(
  { port, catalogFile, dataFolder }: LocalSettings,
  stack: AsyncDisposableStack,
): Promise<void> {
  const paint = paintFor(process.stdout)
  const out = outputOf(thisTerminal())
  const echo = await startEcho()
  stack.defer(echo.close)
  const local = await loadLocalCatalog(catalogFile, echo.url, (name) => readVariable(name) !== undefined)

  const instance = Promise.withResolvers<Instance>()
  const variables = namedVariables(local.catalog)
  const baseUrl = await listen(createGatewayServer(instance.promise, { keys: localKeys(variables) }), port, stack)

  await privateFolder(LOCAL_FOLDER)
  if (dataFolder) await privateFolder(dataFolder)
  const left = await endLeftDatabases(LOCAL_FOLDER)
  if (left > 0) console.log(paint.dim('Ended the database that a killed start had left behind.'))
  stack.defer(() => forgetDatabase(LOCAL_FOLDER))
  const dynamodb = await startDynamoDb(dataFolder, stack, (pid, at) => noteDatabase(LOCAL_FOLDER, pid, at))

  const tables = openTables(LOCAL_TABLES, dynamodb)
  const operatorTables = openOperatorTables(LOCAL_TABLES, dynamodb)
  await createTables(operatorTables)
  const { version } = await writeCatalog(operatorTables)(
    local.catalog,
    newAct('npm start', Date.now(), randomBytes(10)),
  )
  const loaded = { data: local.catalog, version, pushedAt: new Date().toISOString() }
  const log = humanLog(console.log, paint)
  const opened = openInstance({
    config: { ...LOCAL_TABLES, ...BRAND },
    tables,
    log,
    readStoredCatalog: checkedCatalog(readStoredCatalog(tables), loaded, log),
  })
  await sweepRegularly(opened, stack)

  const file: LocalFile = {
    baseUrl,
    dynamodbEndpoint: dynamodb.endpoint,
    demoKey: await demoKey(operatorTables, dataFolder),
    echoUrl: echo.url,
    variables,
    pid: process.pid,
  }
  instance.resolve(opened)
  await writeFile(LOCAL_FILE, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  stack.defer(() => rm(LOCAL_FILE, { force: true }))
  const connection = localConnection(operatorTables, file)
  const options = { port: 0, isReadOnly: false, report: out.error }
  const consoleUrl = await startConsole(connection, options, stack)
  console.log(welcome(file, consoleUrl, local, paint))

  dynamodb.child.once('exit', () => {
    if (stack.disposed) return
    out.error('The local database ended unexpectedly, so the gateway ends too.')
    stack.disposeAsync().finally(() => process.exit(1))
  })
}

function listen(server: Server, port: number, stack: AsyncDisposableStack): Promise<string> {
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = `Port ${port} is already in use. End what uses it, or choose another: PORT=${port + 1} npm start`
      reject(error.code === 'EADDRINUSE' ? new CliError(inUse) : error)
    })
    server.listen(port, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    })
  })
}

async function sweepRegularly(instance: Instance, stack: AsyncDisposableStack): Promise<void> {
  const sweep = createSweep(instance)
  await sweep()
  const timer = setInterval(() => {
    sweep().catch((error) => instance.log.problem('a sweep failed', error, '-'))
  }, SWEEP_EVERY_MINUTES * 60_000)
  stack.defer(() => clearInterval(timer))
}
