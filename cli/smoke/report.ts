import { open } from 'node:fs/promises'
import { endpointOf } from '../../layers/gateway/platform/aws/service.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Session } from '../commands/open-session.ts'
import type { Seen } from './wire.ts'

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
