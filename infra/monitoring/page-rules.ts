import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Tables } from '../data/tables.ts'
import type { Functions } from '../functions/functions.ts'
import type { Stage } from '../stages.ts'
import { gatewayMetric, IN_FIVE_MINUTES, percentOf, sumOf, withoutSuccess } from './metrics.ts'
import type { Rules } from './rule.ts'

export type Watched = {
  readonly stage: Stage
  readonly functions: Functions
  readonly tables: Tables
  readonly api: HttpApi
  readonly adminApi: HttpApi
}

/** Callers are affected now. */
export function pages({ stage, functions, api }: Watched): Rules {
  const { chat, sweep, probe, all } = functions
  const requests = gatewayMetric(stage, 'Requests')
  return {
    ServerErrors: {
      says: 'A twentieth of the requests got a 5xx that is the gateway’s own',
      remedy: '`Errors by code` on the dashboard; the saved query `by level`; after a deployment, stop the rollout.',
      metric: percentOf(gatewayMetric(stage, 'ServerErrors'), requests),
      from: 5,
      periods: 2,
    },
    UpstreamErrors: {
      says: 'A fifth of the requests got a 502, 504 or 503 upstream_rate_limited, because no upstream answered them',
      remedy: '`routes test`; the provider’s status page; take the route out of service, or add a fallback.',
      metric: percentOf(gatewayMetric(stage, 'UpstreamErrors'), requests),
      from: 20,
      periods: 2,
    },
    CredentialFailures: {
      says: 'A provider refuses our key, there is none, or its secret does not name the provider’s host',
      remedy: '`routes test` names the secret; put the right key there, or take the route out of service.',
      metric: gatewayMetric(stage, 'CredentialFailures'),
      from: 1,
      periods: 2,
    },
    ChatErrors: {
      says: 'A twentieth of the chats crashed or timed out',
      remedy: 'The log `ChatLogs`; after a deployment, stop the rollout.',
      metric: percentOf(chat.metricErrors(IN_FIVE_MINUTES), chat.metricInvocations(IN_FIVE_MINUTES)),
      from: 5,
      periods: 2,
    },
    ApiErrors: {
      says: 'A twentieth of the requests to the HTTP API got a 5xx',
      remedy: 'The logs `ApiLogs` and `ApiAccessLogs`; after a deployment, stop the rollout.',
      metric: percentOf(api.metricServerError(IN_FIVE_MINUTES), api.metricCount({ period: IN_FIVE_MINUTES.period })),
      from: 5,
      periods: 2,
    },
    FunctionThrottles: {
      says: 'Lambda refuses to start functions',
      remedy: 'Raise the concurrency, unless the kill switch is on; one key’s flood ends with `keys revoke`.',
      // Of ten at most, which is CloudWatch's limit. A probe that cannot start is a ProbeFailed.
      metric: sumOf(all.filter((fn) => fn !== probe).map((fn) => fn.metricThrottles(IN_FIVE_MINUTES))),
      from: 10,
      periods: 2,
    },
    SweepStopped: {
      says: 'No sweep has succeeded for a quarter of an hour, as before the first one of a stage',
      remedy: 'The log `SweepLogs`; its schedule in EventBridge Scheduler.',
      metric: withoutSuccess(sweep, IN_FIVE_MINUTES),
      from: 1,
      periods: 3,
      isBadIfMissing: true,
    },
    ...(probe && {
      ProbeFailed: {
        says: 'No probe has got a list of models for a quarter of an hour, as before the first one of a stage',
        remedy:
          'The log `ProbeLogs` says how it failed; then `smoke`. If nothing answers: DNS, the certificate, the firewall, the last deployment. If its key is refused, or its secret is missing: make them anew.',
        metric: withoutSuccess(probe, IN_FIVE_MINUTES),
        from: 1,
        periods: 3,
        isBadIfMissing: true,
      },
    }),
  }
}
