import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunction } from '../infra/functions/bundle.ts'
import { GIVES_MEMORY_BACK, stageOf } from '../infra/stages.ts'
import { requireCatalog } from '../layers/catalog/parse-catalog.ts'
import { KEY_DEFAULTS } from '../layers/gateway/domain/keys/new-key.ts'
import { parseCredits } from '../layers/gateway/domain/money/money.ts'
import type { CatalogData } from '../layers/gateway/domain/routing/catalog.ts'
import { BRAND, ENV } from '../layers/gateway/names.ts'
import { writeCatalog } from '../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../layers/gateway/store/dynamodb/create-tables.ts'
import { openTables } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { LOCAL_TABLES } from '../local/database-thread.ts'
import { actBy, issueKey } from '../local/issue-key.ts'
import { MODELS } from './upstream.ts'

type Stack = DisposableStack | AsyncDisposableStack

export function bundleOfChat(stack: Stack): string {
  return folderWith(readFileSync(join(bundleFunction('chat'), 'index.js'), 'utf8'), stack)
}

/** A folder with this code alone, where no node_modules of ours can be found. */
export function folderWith(code: string, stack: Stack): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'index.js'), code)
  return folder
}

/** The code in a folder as chat is deployed on prod, over the local tables. */
export function deployedAs(folder: string) {
  return {
    folder,
    handler: 'index.handler',
    nodePath: '',
    memoryMb: stageOf('prod').chatMemoryMb,
    timeoutSeconds: 900,
    environment: {
      ...GIVES_MEMORY_BACK,
      [ENV.keysTable]: LOCAL_TABLES.keysTable,
      [ENV.usageTable]: LOCAL_TABLES.usageTable,
      [ENV.answersTable]: LOCAL_TABLES.answersTable,
      [ENV.stage]: 'prod',
      [ENV.tokenizerFunction]: 'none',
    },
  }
}

export function catalogFor(upstreamUrl: string): CatalogData {
  return requireCatalog({
    providers: { up: { type: 'openai', baseUrl: upstreamUrl } },
    models: MODELS.map((id) => ({
      id,
      contextLength: 100_000,
      maxOutputTokens: 1_000,
      price: { input: '1', output: '2' },
      routes: [{ provider: 'up', model: id }],
    })),
  })
}

/** Makes the tables if they are not there, with the bench's catalog and a new key that no limit refuses. */
export async function prepareTables(endpoint: string, upstreamUrl: string) {
  const tables = openTables(LOCAL_TABLES, { endpoint })
  await createTables(tables)
  await writeCatalog(tables)(catalogFor(upstreamUrl), actBy('bench'))
  const settings = { ...KEY_DEFAULTS, rpm: 600_000, dailyLimit: 100_000_000, maxConcurrent: 1_000, name: 'bench' }
  const credits = parseCredits('1000000') ?? 0n
  return issueKey(tables, { settings, credits, prefix: BRAND.keyPrefix, by: 'bench' }, Date.now())
}
