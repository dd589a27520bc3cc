import assert from 'node:assert/strict'
import { resolve6 } from 'node:dns/promises'
import { resolve } from 'node:path'
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
import { openReport, type Result, SAMPLES } from './report.ts'
import * as stageChecks from './stage-checks.ts'
import type { Seen } from './wire.ts'

const NAME = 'smoke'

export type SmokeOptions = { readonly model?: string; readonly origin?: readonly string[]; readonly report?: string }

/** Calls every endpoint of a running gateway with a key made for it. True if all is well. */
export async function smoke(session: Session, options: SmokeOptions): Promise<boolean> {
  const { out, stage, chatUrl, apiUrl, terminal } = session
  const { model = await firstModel(session), origin: origins = [], report } = options
  const writeReport = report === undefined ? undefined : await openReport(resolve(terminal.folder, report))
  const results: Result[] = []
  const tell = (result: string, check: string, detail?: string) => {
    results.push({ check, result, detail })
    out.log(`${result.padEnd(8)}${check}${detail === undefined ? '' : `: ${detail}`}`)
  }
  const samples = writeReport ? SAMPLES : 0
  const seen = await checkAll(session, { model, origins, samples }, async (what, work) => {
    try {
      const result = (await work()) as stageChecks.NotApplicable | string | undefined
      if (typeof result === 'object') tell('n/a', what, result.notApplicable)
      else tell('ok', what, result)
    } catch (error) {
      tell('FAILED', what, error instanceof Error ? error.message : String(error))
    }
  })
  const failures = results.filter(({ result }) => result === 'FAILED').length
  await writeReport?.(session, results, seen)
  if (stage !== LOCAL_STAGE) {
    out.log('\nBy hand, because no program can see it with your rights:')
    const lines = stageChecks.manualChecks(stage, chatUrl === apiUrl, origins.length)
    for (const line of lines) out.log(`-       ${line}.`)
  }
  out.log(failures === 0 ? '\nAll is well.' : `\n${failures} of the checks failed.`)
  return failures === 0
}

async function firstModel({ admin }: Session): Promise<string> {
  const { data } = await admin.get<List<RouteShape>>('/routes')
  if (!data[0]) throw new CliError("The catalog has no active model. 'waybill catalog push FILE' brings some.")
  return data[0].model
}

type Plan = { readonly model: string; readonly origins: readonly string[]; readonly samples: number }

async function checkAll(session: Session, { model, origins, samples }: Plan, check: Check): Promise<readonly Seen[]> {
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
    for (let i = 0; i < samples; i++) await caller.ask({})
    await checkCalls(caller, check)
  } finally {
    await admin.change('POST', `/keys/${id}/revoke`, { confirm: NAME })
  }
  await check('the revoked key is refused at once', async () => {
    const statuses = [await caller.ask({}), await caller.get('/v1/models')].map(({ status }) => status)
    const isRefused = statuses.every((status) => status === 401)
    assert(isRefused, `status ${statuses.join(', ')}`)
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
  return caller.seen
}

/** The settings are AWS's: a database on one machine has none of them. */
function notHere(error: unknown): stageChecks.NotApplicable {
  if (error instanceof Refusal && error.code === 'not_here') return { notApplicable: error.message }
  throw error
}
