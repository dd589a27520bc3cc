import assert from 'node:assert/strict'
import { resolve6 } from 'node:dns/promises'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { List, TableShape } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { Overview } from '../../layers/admin/api/shapes/usage.ts'
import { BRAND, LOCAL_STAGE } from '../../layers/gateway/names.ts'
import { endpointOf } from '../../layers/gateway/platform/aws/service.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { newSecret } from '../commands/new-secret.ts'
import type { Session } from '../commands/open-session.ts'
import { testedRoutes } from '../commands/routes.ts'
import { type Check, callerOf, checkCalls } from './check-calls.ts'
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
  const seen = await checkAll(session, { model, origins, samples: writeReport ? SAMPLES : 0 }, async (what, work) => {
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
    for (const line of stageChecks.manualChecks(stage, chatUrl === apiUrl, origins.length)) out.log(`-       ${line}.`)
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

import manifest from '../../package.json' with { type: 'json' }

export type Result = { readonly check: string; readonly result: string; readonly detail: string | undefined }

/** Made before the first check, which costs money: a report that cannot be written is told at once. */
export async function openReport(file: string) {
  const opened = await open(file, 'wx').catch(({ code }: NodeJS.ErrnoException) => {
    const why = code === 'EEXIST' ? 'it is there already: remove it, or name another by --report' : code
    throw new CliError(`The report '${file}' cannot be written: ${why}.`)
  })
  return async (session: Session, checks: readonly Result[], seen: readonly Seen[]) => {
    const { stage, region = 'none', chatUrl, apiUrl, nowMs } = session
    const [{ ms: first_ms } = { ms: 0 }, ...warm] = seen.slice(0, SAMPLES)
    const sorted = warm.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]
    const report = {
      waybill: manifest.version,
      node: process.version,
      platform: process.platform,
      stage,
      region,
      at: new Date(nowMs).toISOString(),
      has_edge: chatUrl === apiUrl,
      checks,
      completions: { first_ms, warm: sorted.length, warm_p50_ms: at(0.5), warm_p95_ms: at(0.95) },
      alarms: await alarmStates(session).catch((error: Error) => `not seen: ${error.message}`),
      calls: seen.map(({ body: _, spreadMs: stream_ms, ...call }) => ({ ...call, stream_ms })),
    }
    await opened.writeFile(`${JSON.stringify(report, null, 2)}\n`)
    await opened.close()
  }
}

/** The completions before all else: on a stage at rest the first is a cold start. */
export const SAMPLES = 20

/** The query is that of the API Reference of CloudWatch ("DescribeAlarms"): an SDK for it would be megabytes. */
async function alarmStates({ stack, region, signIn }: Session): Promise<object | string> {
  if (stack === undefined || region === undefined) return 'not asked: they are in AWS, and this was not signed in there'
  const query = { Action: 'DescribeAlarms', AlarmNamePrefix: `${stack}-`, MaxRecords: '100', Version: '2010-08-01' }
  const place = process.env.AWS_ENDPOINT_URL_CLOUDWATCH ?? process.env.AWS_ENDPOINT_URL
  const url = new URL(`/?${new URLSearchParams(query)}`, place ?? endpointOf('monitoring', region))
  const signed = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]]))
  const request = { method: 'GET', path: '/', query: signed, headers: { host: url.host } }
  const answer = await fetch(url, { headers: await signIn.sign(request, Date.now(), 'monitoring') })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(/<Code>([^<]+)/.exec(text)?.[1] ?? `status ${answer.status}`)
  const states = text.matchAll(/<AlarmName>([^<]+)<.*?<StateValue>([^<]+)</gs)
  return Object.fromEntries(Array.from(states, ([, name, state]) => [name, state]))
}
