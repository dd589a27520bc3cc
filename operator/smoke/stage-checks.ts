import { SWEEP_EVERY_MINUTES } from '../../layers/gateway/contract.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import { expiredHolds, type Key } from '../../layers/gateway/domain/key.ts'
import { namedSecrets } from '../../layers/gateway/domain/provider-secret.ts'
import { shellWord } from '../../layers/gateway/domain/shell-word.ts'
import type { UsageRow } from '../../layers/gateway/domain/usage-row.ts'
import { WAYBILL } from '../terminal/how-to-run.ts'

export type NotApplicable = { readonly notApplicable: string }

const notApplicable = (why: string): NotApplicable => ({ notApplicable: why })

/** A shorter answer can look buffered by chance. */
const LEAST_STREAM_MS = 500

/** Fails if a stream did not arrive as it was generated, by the gateway's own times: something on the way buffers it. */
export function checkPieces(row: UsageRow | undefined, seenMs: number): NotApplicable | undefined {
  const madeMs = (row?.durationMs ?? 0) - (row?.ttftMs ?? 0)
  if (madeMs < LEAST_STREAM_MS) {
    return notApplicable(`the model was done ${madeMs} ms after its first token; --model names a slower one`)
  }
  if (seenMs >= madeMs / 2) return undefined
  throw new Error(
    `it was made in ${madeMs} ms and arrived within ${seenMs}: something in front of it gathers answers. Look for a proxy here, and for another origin or compression at CloudFront`,
  )
}

/** CloudFront answers 403 to plain HTTP, or redirects it to HTTPS: a key must never be accepted unencrypted. */
export async function checkPlainHttp(baseUrl: string): Promise<NotApplicable | undefined> {
  if (!baseUrl.startsWith('https:')) return notApplicable('this gateway has no HTTPS')
  const url = `${baseUrl.replace(/^https:/, 'http:')}/v1/models`
  const status = await fetch(url, { redirect: 'manual' }).then(
    (response) => response.status,
    () => 'no connection',
  )
  if (status === 'no connection' || status === 403 || (Number(status) >= 300 && Number(status) < 400)) return undefined
  throw new Error(`${url} answers ${status}: deploy again, the distribution was changed by hand`)
}

/** Fails if the name does not have addresses of the kinds that the stage's settings demand. */
export async function checkIpv6(
  baseUrl: string,
  isOn: boolean,
  resolve6: (host: string) => Promise<readonly string[]>,
): Promise<NotApplicable | undefined> {
  const { hostname } = new URL(baseUrl)
  if (/^[\d.]+$|^\[|^localhost$/.test(hostname)) return notApplicable('this gateway has no name in the DNS')
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
  const response = await fetch(url)
  const code = await response.json().then(
    (body) => (body as { error?: { code?: unknown; type?: unknown } })?.error,
    () => undefined,
  )
  if (response.status === 403 && JSON.stringify(code)?.includes('direct_access_denied')) return
  throw new Error(
    `${url} answers ${response.status} in place of 403 direct_access_denied: callers can go around CloudFront. Deploy again`,
  )
}

/** Fails if a provider may not have the key that the catalog names for it. Callers get just a 502 for that. */
export async function checkProviderKeys(
  catalog: CatalogData,
  read: (name: string, baseUrl: string) => Promise<string | undefined>,
): Promise<void> {
  for (const { name, baseUrl } of namedSecrets(catalog)) {
    if (!(await read(name, baseUrl))) throw new Error(`there is no secret '${name}' of this stage`)
  }
}

/** Three sweeps may fail before an alarm goes off. */
const LATE_MS = 3 * SWEEP_EVERY_MINUTES * 60_000

/** The sweep leaves no trace of its own, but requests that it should have settled do. */
export function checkSwept(keys: readonly Key[], nowMs: number): void {
  const late = keys.flatMap((key) =>
    expiredHolds(key, nowMs - LATE_MS).map(({ requestId }) => `${requestId} of ${key.id}`),
  )
  if (late.length === 0) return
  throw new Error(
    `${late.length} dead requests wait for it, such as ${late[0]}: look at the sweep's log and at its schedule in EventBridge Scheduler`,
  )
}

type Stage = { readonly name: string; readonly hasEdge: boolean }

/** Facts that no program can see with an operator's rights, and how a person can. */
export function manualChecks({ name, hasEdge }: Stage, origins: number): string[] {
  const stack = `Waybill-${name}`
  const topic = `aws sns list-subscriptions-by-topic --topic-arn ARN, for both topics of ${stack}`
  return [
    `Alarms reach somebody: ${topic}; a subscription is not confirmed while it says PendingConfirmation`,
    `Sweeps run: the alarm SweepStopped of ${stack} is OK, and has been for a quarter of an hour`,
    ...(hasEdge && origins === 0
      ? [
          `Nobody goes around CloudFront: ${WAYBILL} smoke --stage ${shellWord(name)} --origin URL, for the Function URL of chat and the address of the HTTP API (both in the Lambda and API Gateway consoles)`,
        ]
      : []),
    `A deployment is taken back: on a stage without customers, deploy a version that crashes with "rollout": "canary"`,
  ]
}
