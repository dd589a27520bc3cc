import type { TableShape } from '../../layers/admin/api/shapes/answers.ts'
import type { Overview } from '../../layers/admin/api/shapes/usage.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { TABLES } from '../../layers/gateway/names.ts'
import { WAYBILL } from '../../layers/terminal/how-to-run.ts'
import { send } from './wire.ts'

export type NotApplicable = { readonly notApplicable: string }

type Times = { readonly duration_ms: number; readonly ttft_ms: number | null }

/** Fails if a stream did not arrive as it was generated, by the gateway's own times: something on the way buffers it. */
export function checkPieces({ duration_ms, ttft_ms }: Times, seenMs: number): NotApplicable | undefined {
  const madeMs = duration_ms - (ttft_ms ?? 0)
  // A shorter answer can look buffered by chance.
  if (madeMs < 500) {
    return { notApplicable: `the model was done ${madeMs} ms after its first token; --model names a slower one` }
  }
  if (seenMs >= madeMs / 2) return undefined
  throw new Error(
    `it was made in ${madeMs} ms and arrived within ${seenMs}: something in front of it gathers answers. Look for a proxy here, and for another origin or compression at CloudFront`,
  )
}

/** CloudFront answers 403 to plain HTTP, or redirects it to HTTPS: a key must never be accepted unencrypted. */
export async function checkPlainHttp(baseUrl: string): Promise<NotApplicable | undefined> {
  if (!baseUrl.startsWith('https:')) return { notApplicable: 'this gateway has no HTTPS' }
  const url = `${baseUrl.replace(/^https:/, 'http:')}/v1/models`
  const { status } = await send(url).catch(() => ({ status: 403 }))
  if (/^(403|3\d\d)$/.test(String(status))) return undefined
  throw new Error(`${url} answers ${status}: deploy again, the distribution was changed by hand`)
}

type Resolve = (host: string) => Promise<readonly string[]>

export async function checkIpv6(baseUrl: string, isOn: boolean, resolve6: Resolve): Promise<NotApplicable | undefined> {
  const { hostname } = new URL(baseUrl)
  if (/^[\d.]+$|^\[|^localhost$/.test(hostname)) return { notApplicable: 'this gateway has no name in the DNS' }
  const addresses = await resolve6(hostname).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
    throw error
  })
  if (addresses.length > 0 === isOn) return undefined
  throw new Error(
    isOn
      ? `${hostname} has no IPv6 address: a new name takes some minutes; if it stays so, deploy again`
      : `${hostname} has the IPv6 address ${addresses[0]}, which allowlists with IPv4 ranges only refuse`,
  )
}

/** Behind CloudFront, an origin refuses every request that bypasses it. */
export async function checkClosed(origin: string): Promise<void> {
  const url = `${origin.replace(/\/$/, '')}/v1/models`
  const { status, body } = await send(url)
  if (status === 403 && body.includes('direct_access_denied')) return
  throw new Error(
    `${url} answers ${status} in place of 403 direct_access_denied: callers can go around CloudFront. Deploy again`,
  )
}

/** The sweep leaves no trace of its own, but requests that it should have settled do. */
export function checkSwept({ dead_requests: dead }: Pick<Overview, 'dead_requests'>): void {
  if (dead.length === 0) return
  throw new Error(
    `dead requests wait for it, such as ${dead[0]}: look at the sweep's log and at its schedule in EventBridge Scheduler`,
  )
}

/** Fails with the commands that repair a table whose settings are not the template's, as after a restore. */
export function checkTableSettings(tables: readonly TableShape[], isProtected: boolean): void {
  const repairs = tables.flatMap(({ kind, name, expires, recoverable, deletion_protected }) => {
    const on = `--table-name ${shellWord(name)}`
    const { timeToLive } = TABLES[kind]
    const rows: readonly (readonly [isRight: boolean, repair: string])[] = [
      [
        expires,
        `update-time-to-live ${on} --time-to-live-specification ${shellWord(`Enabled=true,AttributeName=${timeToLive}`)}`,
      ],
      [
        // Kept answers end after a day, and must not be recoverable for 35.
        recoverable || kind === 'answers',
        `update-continuous-backups ${on} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
      ],
      [deletion_protected || !isProtected, `update-table ${on} --deletion-protection-enabled`],
    ]
    return rows.flatMap(([isRight, repair]) => (isRight ? [] : [`aws dynamodb ${repair}`]))
  })
  if (repairs.length > 0) throw new Error(`a table is not as it was deployed. Repair it:\n  ${repairs.join('\n  ')}`)
}

/** Facts that no program can see with an operator's rights, and how a person can. */
export function manualChecks(name: string, hasEdge: boolean, origins: number): string[] {
  const stack = `Waybill-${name}`
  const topic = `aws sns list-subscriptions-by-topic --topic-arn ARN, for both topics of ${stack}`
  return [
    `Alarms reach somebody: ${topic}; a subscription is not confirmed while it says PendingConfirmation`,
    `Sweeps and the probe run: the alarms SweepStopped and ProbeFailed of ${stack} are OK, and have been for a quarter of an hour`,
    ...(hasEdge && origins === 0
      ? [
          `Nobody goes around CloudFront: ${WAYBILL} smoke --stage ${shellWord(name)} --origin URL, for the Function URL of chat and the address of the HTTP API (both in the Lambda and API Gateway consoles)`,
        ]
      : []),
    `A deployment is taken back: on a stage without customers, deploy a version that crashes with "rollout": "canary"`,
  ]
}
