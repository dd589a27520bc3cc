import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalFile, localFile, localFolder } from '../../../cli/connect/local-gateway.ts'
import catalog from '../../../local/catalog.json' with { type: 'json' }
import { until } from '../../support/wait.ts'
import { PRICE } from './chat.ts'
import { startProcess } from './record.ts'

export type Gateway = { readonly folder: string; readonly baseUrl: string; readonly consoleUrl: string }

/** `npm start` in an empty folder, on a free port, with a price of ours for the model echo. */
export async function startGateway(stack: AsyncDisposableStack): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-race-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const catalogFile = join(folder, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify(echoCatalog()))
  const gateway = startProcess('npm start', { folder, env: { PORT: '0', WAYBILL_CATALOG: catalogFile } })
  const ended = once(gateway, 'close')
  stack.defer(async () => {
    gateway.kill('SIGTERM')
    await ended
  })
  let welcome = ''
  gateway.stdout.on('data', (chunk) => {
    welcome += chunk
  })
  const consoleUrl = () => /console +(http\S+)/.exec(welcome)?.[1] ?? ''
  await until(() => consoleUrl() !== '', 40_000)
  const { baseUrl } = JSON.parse(await readFile(localFile(localFolder(folder)), 'utf8')) as LocalFile
  return { folder, baseUrl, consoleUrl: consoleUrl() }
}

function echoCatalog() {
  const models = catalog.models.filter(({ id }) => id === 'echo').map((model) => ({ ...model, price: PRICE }))
  return { providers: { echo: catalog.providers.echo }, models }
}
