import { resolve6 } from 'node:dns/promises'
import { BRAND, LOCAL_STAGE } from '../../layers/gateway/contract.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import type { Output } from '../../layers/gateway/domain/plain-text.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import type { Connection } from '../connect/connect.ts'
import { actBy, issueKey } from '../connect/issue-key.ts'
import { readStageKey } from '../routes/stage-keys.ts'
import { CliError } from '../terminal/cli-error.ts'
import { callerOf, checkCalls, expect } from './check-calls.ts'
import { type Check, checksOn } from './checks-on.ts'
import { checkClosed, checkIpv6, checkPlainHttp, checkProviderKeys, checkSwept, manualChecks } from './stage-checks.ts'
import { checkTableSettings } from './table-settings.ts'

export type SmokeOptions = { readonly model?: string; readonly origin?: readonly string[] }

/** Calls every endpoint of a running gateway with a key made for it. True if all is well. */
export async function smoke(connection: Connection, options: SmokeOptions, out: Output): Promise<boolean> {
  const { check, failures } = checksOn(out)
  await checkAll(
    connection,
    { model: options.model ?? (await firstModel(connection)), origins: options.origin ?? [] },
    check,
  )
  if (connection.stage !== LOCAL_STAGE) showManualChecks(connection, options.origin ?? [], out)
  out.log(failures() === 0 ? '\nAll is well.' : `\n${failures()} of the checks failed.`)
  return failures() === 0
}

async function catalogOf({ tables }: Connection): Promise<CatalogData> {
  return (await readStoredCatalog(tables)())?.data ?? { providers: {}, models: [] }
}

async function firstModel(connection: Connection): Promise<string> {
  const model = (await catalogOf(connection)).models.find(({ active }) => active)
  if (!model) throw new CliError("The catalog has no active model. 'waybill catalog push FILE' brings some.")
  return model.id
}

type Plan = { readonly model: string; readonly origins: readonly string[] }

async function checkAll(connection: Connection, { model, origins }: Plan, check: Check): Promise<void> {
  const { tables, chatUrl, stage, whoAmI } = connection
  const settings = { ...KEY_DEFAULTS, name: 'smoke', rpm: 600 }
  const issued = await issueKey(
    tables,
    { settings, credits: 10n ** 9n, prefix: BRAND.keyPrefix, by: await whoAmI() },
    Date.now(),
  )
  const caller = callerOf(connection, issued, model)
  await check('every provider may have its key', async () => {
    if (stage === LOCAL_STAGE) return { notApplicable: 'a local gateway has its keys in variables' }
    return checkProviderKeys(await catalogOf(connection), readStageKey(stage, tables.client))
  })
  try {
    await checkCalls(caller, check)
  } finally {
    await revokeKey(tables)(issued.key.id, actBy(await whoAmI()))
  }
  await check('the revoked key is refused at once', async () => {
    const responses = [await caller.ask({}), await caller.get('/v1/models')]
    expect(
      responses.every(({ status }) => status === 401),
      `status ${responses.map(({ status }) => status).join(', ')}`,
    )
  })
  await check('nobody is answered over plain HTTP', () => checkPlainHttp(chatUrl))
  await check(`clients ${connection.ipv6 ? 'can' : 'cannot'} come over IPv6, as the settings say`, () =>
    stage === LOCAL_STAGE ? { notApplicable: 'this is one machine' } : checkIpv6(chatUrl, connection.ipv6, resolve6),
  )
  await check('the sweep leaves no dead request lying', async () =>
    checkSwept(await Array.fromAsync(listKeys(tables)()), Date.now()),
  )
  await check('the tables expire, can be recovered and are protected, as they were deployed', () =>
    stage === LOCAL_STAGE
      ? { notApplicable: 'a local table has no such settings' }
      : checkTableSettings(tables, connection.isProtected),
  )
  for (const origin of origins)
    await check(`${origin} is closed to whoever goes around CloudFront`, () => checkClosed(origin))
}

function showManualChecks({ stage, chatUrl, apiUrl }: Connection, origins: readonly string[], out: Output): void {
  out.log('\nBy hand, because no program can see it with your rights:')
  const facts = { name: stage, hasEdge: chatUrl === apiUrl }
  for (const line of manualChecks(facts, origins.length)) out.log(`-       ${line}.`)
}
