import { rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { localConnection } from '../cli/connect/connect.ts'
import { type LocalFile, localFile } from '../cli/connect/local-gateway.ts'
import { newToken } from '../cli/console/guard.ts'
import { startConsole } from '../cli/console/start-console.ts'
import { createClose } from '../functions/close/create.ts'
import { type Instance, openInstance } from '../functions/instance.ts'
import { createSweep } from '../functions/sweep/create.ts'
import type { Tell } from '../functions/sweep/tell-notices.ts'
import { webhookTeller } from '../functions/sweep/webhook.ts'
import { apiKeyOf, type CatalogData } from '../layers/gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../layers/gateway/domain/routing/upstream-failure.ts'
import { BRAND, CLOSE_EVERY_MINUTES, SWEEP_EVERY_MINUTES } from '../layers/gateway/names.ts'
import { readVariable } from '../layers/gateway/platform/config.ts'
import type { KeySources } from '../layers/gateway/providers/open-provider.ts'
import { readStoredCatalog } from '../layers/gateway/store/catalog/read-catalog.ts'
import { createTables } from '../layers/gateway/store/dynamodb/create-tables.ts'
import { openTables } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { START, START_WITH } from '../layers/terminal/how-to-run.ts'
import { CliError } from '../layers/terminal/output.ts'
import { outputOf, paintFor, thisTerminal } from '../layers/terminal/terminal.ts'
import { freshCredentials, LOCAL_TABLES, startDatabase } from './database-thread.ts'
import { listenHere } from './dynamodb/http-server.ts'
import { WRITE_UNITS } from './dynamodb/throttle.ts'
import { startKeptEcho } from './echo-upstream.ts'
import { humanLog } from './human-log.ts'
import { demoKey } from './issue-key.ts'
import { createLocalAdmin, type LocalAdmin } from './local-admin.ts'
import { catalogInForce, checkedCatalog, loadLocalCatalog } from './local-catalog.ts'
import { createGatewayServer } from './server.ts'
import type { LocalSettings } from './settings.ts'
import { takeFolder } from './take-folder.ts'
import { webhookSecret } from './webhook.ts'
import { welcome } from './welcome.ts'

/** Starts everything; a part that must be ended is put on `stack` the moment it exists. Throws a CliError. */
export async function start(settings: LocalSettings, stack: AsyncDisposableStack): Promise<void> {
  const { port, catalogFile, folder, isInMemory } = settings
  const paint = paintFor(process.stdout)
  const out = outputOf(thisTerminal())
  await takeFolder(folder, stack)
  const echo = await startKeptEcho(folder)
  stack.defer(echo.close)
  const local = await loadLocalCatalog(catalogFile, echo.url)

  const instance = Promise.withResolvers<Instance>()
  const keys = localKeys(local.catalog)
  const admin = Promise.withResolvers<LocalAdmin>()
  const baseUrl = await listen(createGatewayServer(instance.promise, { keys, admin: admin.promise }), port, stack)

  const databaseFile = isInMemory ? null : join(folder, 'data.sqlite')
  const unitsASecond = settings.isThrottled ? WRITE_UNITS : undefined
  const credentials = freshCredentials()
  const dynamodb = await startDatabase({ file: databaseFile, credentials, unitsASecond }, stack).catch(
    (error: Error) => {
      throw new CliError(
        `The data in '${databaseFile}' cannot be opened (${error.message}). Move the file away to begin anew, or choose another folder: ${START_WITH} --data FOLDER`,
      )
    },
  )
  const tables = openTables(LOCAL_TABLES, dynamodb)
  await createTables(tables)
  const inForce = await catalogInForce(tables, { data: local.catalog, source: local.source }, echo)
  const log = humanLog(console.log, paint)
  const opened = openInstance({
    config: { ...LOCAL_TABLES, ...BRAND, hasUsagePage: true },
    tables,
    log,
    readCatalog: checkedCatalog(readStoredCatalog(tables), { ...inForce, data: local.catalog }, log),
  })
  const { webhook } = settings
  const secret = webhook && (await webhookSecret(webhook.secret, folder))
  const tell = webhook && secret ? webhookTeller(webhook.url, async () => secret) : undefined
  await sweepRegularly(opened, stack, tell)
  closeRegularly(opened, stack, settings.otlpUrl)

  const file: LocalFile = {
    baseUrl,
    dynamodbEndpoint: dynamodb.endpoint,
    dynamodbCredentials: credentials,
    demoKey: await demoKey(tables, isInMemory ? null : folder),
    echoUrl: echo.url,
    adminToken: newToken(),
    pid: process.pid,
  }
  instance.resolve(opened)
  const { renew: renewCatalog } = opened.loadCatalog
  const administered = { tables, apiKeys: keys, echoUrl: echo.url, clock: Date.now, log, renewCatalog }
  admin.resolve(createLocalAdmin({ ...administered, baseUrl, token: file.adminToken, tellsNotices: !!tell }))
  await writeFile(localFile(folder), `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  stack.defer(() => rm(localFile(folder), { force: true }))
  const consoleUrl = await startConsole(localConnection(file), { isReadOnly: false }, stack)
  console.log(welcome({ file, consoleUrl, local, inForce, settings }, paint))

  dynamodb.ended.catch((error: Error) => {
    if (stack.disposed) return
    out.error(`The local database ended unexpectedly, so the gateway ends too: ${error.message}`)
    stack.disposeAsync().finally(() => process.exit(1))
  })
}

const PORT_TROUBLES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is already in use.',
  EACCES: 'is for the administrator of this machine only.',
}

async function listen(server: Server, port: number, stack: AsyncDisposableStack): Promise<string> {
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const opened = await listenHere(server, port).catch(({ code = '' }: NodeJS.ErrnoException) => {
    const reason = PORT_TROUBLES[code] ?? `cannot be used (${code}).`
    // The next ones are those of consoles.
    const other = port < 1024 || port > 65_525 ? 8787 : port + 10
    throw new CliError(`Port ${port} ${reason} Choose another: ${START_WITH} --port ${other}`)
  })
  return `http://127.0.0.1:${opened}`
}

async function sweepRegularly(instance: Instance, stack: AsyncDisposableStack, tell: Tell | undefined): Promise<void> {
  const sweep = createSweep(instance, tell)
  const run = () => sweep().catch((error) => instance.log.problem('a sweep failed', error, '-'))
  // A start does not wait for a webhook that is away.
  await (tell ? void run() : sweep())
  const timer = setInterval(run, SWEEP_EVERY_MINUTES * 60_000)
  stack.defer(() => clearInterval(timer))
}

/** Adds up the past, so that no page of the console reads every row. Nobody waits for it: the first run may have much to do. */
function closeRegularly(instance: Instance, stack: AsyncDisposableStack, url: string | undefined): void {
  let isOver = false
  // The local database's indexes are never behind.
  const close = createClose(instance, { pause: async () => {}, collector: { url, lagMs: 10_000 } })
  const run = () =>
    close(undefined, { getRemainingTimeInMillis: () => (isOver ? 0 : Infinity) }).catch((error) => {
      if (!isOver) instance.log.problem('a closing failed', error, '-')
    })
  void run()
  const timer = setInterval(run, (url ? 1 : CLOSE_EVERY_MINUTES) * 60_000)
  stack.defer(() => {
    isOver = true
    clearInterval(timer)
  })
}

/** Every program here can write a catalog, so only the file of the start decides which address gets a variable. */
export function localKeys({ providers }: CatalogData): KeySources {
  const entries = Object.values(providers)
  return {
    env: (name, baseUrl) => {
      const ofAddress = entries.filter((entry) => 'baseUrl' in entry && entry.baseUrl === baseUrl)
      if (ofAddress.some((entry) => apiKeyOf(entry) === `env:${name}`)) return readVariable(name)
      const message = `The catalog file that '${START}' loaded does not send env:${name} to ${new URL(baseUrl).origin}, so it is not sent. Restart with a file that does: WAYBILL_CATALOG=FILE ${START} (unless set, the one that comes along).`
      throw new UpstreamFailure('credential', message)
    },
    secret: async (name) => {
      const message = `secret:${name} is for a stage in AWS; on this machine there is env:NAME.`
      throw new UpstreamFailure('credential', message)
    },
  }
}
