import assert from 'node:assert/strict'
import { resolve6 } from 'node:dns/promises'
import type { List, TableShape } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { Overview } from '../../layers/admin/api/shapes/usage.ts'
import { BRAND, LOCAL_STAGE } from '../../layers/gateway/names.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { newSecret } from '../commands/new-secret.ts'
import type { Session } from '../commands/open-session.ts'
import { testedRoutes } from '../commands/routes.ts'
import { type Check, callerOf, checkCalls } from './check-calls.ts'
import * as stageChecks from './stage-checks.ts'

const NAME = 'smoke'

export type SmokeOptions = { readonly model?: string; readonly origin?: readonly string[] }

/** Calls every endpoint of a running gateway with a key made for it. True if all is well. */
export async function smoke(session: Session, options: SmokeOptions): Promise<boolean> {
  const { out, stage, chatUrl, apiUrl } = session
  const { model = await firstModel(session), origin: origins = [] } = options
  let failures = 0
  await checkAll(session, model, origins, async (what, work) => {
    try {
      const result = (await work()) as stageChecks.NotApplicable | undefined
      out.log(result ? `n/a     ${what}: ${result.notApplicable}` : `ok      ${what}`)
    } catch (error) {
      failures += 1
      out.log(`FAILED  ${what}: ${error instanceof Error ? error.message : error}`)
    }
  })
  if (stage !== LOCAL_STAGE) {
    out.log('\nBy hand, because no program can see it with your rights:')
    const facts = { name: stage, hasEdge: chatUrl === apiUrl }
    for (const line of stageChecks.manualChecks(facts, origins.length)) out.log(`-       ${line}.`)
  }
  out.log(failures === 0 ? '\nAll is well.' : `\n${failures} of the checks failed.`)
  return failures === 0
}

async function firstModel({ admin }: Session): Promise<string> {
  const { data } = await admin.get<List<RouteShape>>('/routes')
  if (!data[0]) throw new CliError("The catalog has no active model. 'waybill catalog push FILE' brings some.")
  return data[0].model
}

async function checkAll(session: Session, model: string, origins: readonly string[], check: Check): Promise<void> {
  const { admin, chatUrl, stage, ipv6 } = session
  const { secret, sent } = newSecret(BRAND.keyPrefix)
  const { id } = await admin.once<KeyShape>('/keys', { name: NAME, rpm: 600, credits: '1', ...sent })
  const caller = callerOf(session, { id, secret }, model)
  await check('every route of the catalog answers', async () => {
    const { data } = await testedRoutes(admin)
    const failed = data.filter(({ ok }) => !ok).map((test) => `${test.model} by ${test.provider}: ${test.result}`)
    assert(failed.length === 0, failed.join('; '))
  })
  try {
    await checkCalls(caller, check)
  } finally {
    await admin.change('POST', `/keys/${id}/revoke`, { confirm: NAME })
  }
  await check('the revoked key is refused at once', async () => {
    const responses = [await caller.ask({}), await caller.get('/v1/models')]
    assert(
      responses.every(({ status }) => status === 401),
      `status ${responses.map(({ status }) => status).join(', ')}`,
    )
  })
  await check('nobody is answered over plain HTTP', () => stageChecks.checkPlainHttp(chatUrl))
  await check(`clients ${ipv6 ? 'can' : 'cannot'} come over IPv6, as the settings say`, () => {
    if (stage === LOCAL_STAGE) return { notApplicable: 'this is one machine' }
    if (ipv6 === undefined) return { notApplicable: 'an admin key does not see the settings' }
    return stageChecks.checkIpv6(chatUrl, ipv6, resolve6)
  })
  await check('the sweep leaves no dead request lying', async () =>
    stageChecks.checkSwept(await admin.get<Overview>('/overview')),
  )
  await check('the tables expire, can be recovered and are protected, as they were deployed', async () => {
    const tables = await admin.get<List<TableShape>>('/tables').catch(notHere)
    return 'notApplicable' in tables ? tables : stageChecks.checkTableSettings(tables.data, session.isProtected)
  })
  for (const origin of origins)
    await check(`${origin} is closed to whoever goes around CloudFront`, () => stageChecks.checkClosed(origin))
}

/** The settings are AWS's: a database on one machine has none of them. */
function notHere(error: unknown): stageChecks.NotApplicable {
  if (error instanceof Refusal && error.code === 'not_here') return { notApplicable: error.message }
  throw error
}
