import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { FUNCTION_TIMEOUT_SECONDS } from '../../layers/gateway/names.ts'
import type { Functions } from '../functions/functions.ts'
import type { Stage } from '../stages.ts'
import { databaseRules } from './database-rules.ts'
import { gatewayMetric, IN_FIVE_MINUTES, sumOf, withoutSuccess } from './metrics.ts'
import type { Watched } from './page-rules.ts'
import type { Rule, Rules, Words } from './rule.ts'

type Count = Words & Pick<Rule, 'from' | 'periods'>

/** Counts of the gateway's log, by the name of their metric. */
const COUNTS: Readonly<Record<string, Count>> = {
  Problems: {
    says: 'Something that should not happen was logged',
    remedy: 'The saved query `by level`; then `by request id` with the `requestId` of the line.',
    from: 1,
    periods: 1,
  },
  InvalidKeys: {
    says: 'A hundred requests in five minutes had no valid key',
    remedy: 'A client with an old key: its address is in the log `ApiAccessLogs`, or in CloudFront’s.',
    from: 100,
    periods: 2,
  },
  Unsettled: {
    says: 'Requests could not be settled; the sweep will finish them',
    remedy: 'Throttles and errors of DynamoDB; `audit` after the next sweep.',
    from: 1,
    periods: 1,
  },
  SweptHolds: {
    says: 'Requests died under way and were finished by the sweep',
    remedy: 'Crashes and timeouts in the log `ChatLogs`; `audit`.',
    from: 1,
    periods: 1,
  },
  RoughEstimates: {
    says: 'The tokenizer cannot be reached; answers are billed by their characters',
    remedy: 'The saved query `by level`; the log `TokenizerLogs`; the account’s concurrency.',
    from: 1,
    periods: 2,
  },
  UsageRejected: {
    says: 'Upstreams report usage that is none; the answers are billed by estimate',
    remedy: '`usage list` shows the provider; ask it, or take the route out of service.',
    from: 5,
    periods: 2,
  },
  BilledAtBound: {
    says: 'Upstreams counted more than was held for; the hold was charged, which may not cover the bill',
    remedy: '`usage list` shows the provider; ask it, or take the route out of service.',
    from: 1,
    periods: 1,
  },
  ContextExceeded: {
    says: 'Upstreams counted prompts above the contextLength of their model, so that holds are too small',
    remedy: '`context_exceeded` in the log `ChatLogs` names the route; `catalog check --stage`; correct its model.',
    from: 1,
    periods: 1,
  },
  BeyondCap: {
    says: 'Routes ignore the output cap that they are given; their answers were cut, and may not cover their bill',
    remedy: '`beyond_cap` in the log `ChatLogs` names provider and model; set its `capField`, or another route.',
    from: 1,
    periods: 1,
  },
  NegativeMargins: {
    says: 'Answers cost us more than was charged for them',
    remedy: '`catalog check` and `usage summary`; raise the price, or correct the cost.',
    from: 1,
    periods: 1,
  },
  LossReached: {
    says: 'Keys have cost as much beyond their charges as dailyLoss allows for a UTC day',
    remedy:
      '`loss_reached` in the log `ChatLogs` names the key and a request; `usage show` says why; see what a key may lose.',
    from: 1,
    periods: 1,
  },
  UnpaidAnswers: {
    says: 'Answers are given up and reach nobody, but providers may bill them',
    remedy: 'The provider is slow: `routes list`; raise its `firstByteTimeoutMs`, or take the route out of service.',
    from: 20,
    periods: 2,
  },
}

/** Alarms that can wait for a working day. */
export function tickets(watched: Watched): Rules {
  const { stage, tables } = watched
  return {
    ...releaseRules(watched),
    ...countRules(stage),
    ...slowRules(stage),
    ...functionRules(watched),
    ...concurrencyRules(watched),
    ...closingRules(watched),
    ...databaseRules(tables),
  }
}

function countRules(stage: Stage): Rules {
  const named = Object.entries(COUNTS)
  return Object.fromEntries(named.map(([name, count]) => [name, { ...count, metric: gatewayMetric(stage, name) }]))
}

/** Apart from each other, for Rollout's sake. */
function releaseRules({ stage, functions: { called, admin } }: Watched): Rules {
  if (stage.rollout !== 'canary') return {}
  const from = { from: 3, periods: 1 } as const
  return {
    ReleaseErrors: {
      says: 'The version that is being deployed crashes or times out; it is rolled back',
      remedy: 'The function’s log; the deployment in CodeDeploy.',
      metric: releaseErrors(called),
      ...from,
    },
    AdminReleaseErrors: {
      says: 'The version of the admin API that is being deployed crashes or times out; it is rolled back',
      remedy: 'The log `AdminLogs`; the deployment in CodeDeploy.',
      metric: releaseErrors([admin]),
      ...from,
    },
  }
}

/**
 * The errors of the version that a deployment brings, however few calls it gets: among all calls they would not stand
 * out. Lambda counts by version if an alias has two, which is during a deployment.
 */
function releaseErrors(functions: Functions['called']) {
  const errors = functions.map(({ functionName: FunctionName, live }) => {
    // The alias by its name: a reference to it would wait for the deployment that this alarm is to watch.
    const dimensionsMap = {
      FunctionName,
      Resource: `${FunctionName}:${live.aliasName}`,
      ExecutedVersion: live.version.version,
    }
    return new Metric({ namespace: 'AWS/Lambda', metricName: 'Errors', dimensionsMap, ...IN_FIVE_MINUTES })
  })
  return sumOf(errors)
}

function functionRules({ functions: { chat, tokenizer, api }, adminApi }: Watched): Rules {
  return {
    FunctionErrors: {
      says: 'Functions besides chat, the sweep and the admin API crash or time out',
      remedy: 'Their logs, by the saved query `by level`; after a deployment, stop the rollout.',
      metric: sumOf([tokenizer, api].map((fn) => fn.metricErrors(IN_FIVE_MINUTES))),
      from: 3,
      periods: 2,
    },
    AdminErrors: {
      says: 'The admin API answers with 5xx, crashes or times out',
      remedy: 'The logs `AdminLogs` and `AdminApiLogs`; meanwhile on-call can end a key in the table.',
      metric: adminApi.metricServerError(IN_FIVE_MINUTES),
      from: 3,
      periods: 2,
    },
    ChatDuration: {
      says: 'A chat request came close to the function’s limit of 15 minutes',
      remedy: 'Slow models or clients: `usage list` has the key and the model of each request.',
      metric: chat.metricDuration({ ...IN_FIVE_MINUTES, statistic: 'Maximum' }),
      from: FUNCTION_TIMEOUT_SECONDS * 1000 * 0.95,
      periods: 1,
    },
  }
}

const SLOW_REQUEST_MS = 300_000

/** Tickets, because their limits are guesses. */
function slowRules(stage: Stage): Rules {
  const p95 = (metric: string) => gatewayMetric(stage, metric, 'p95')
  const remedy =
    '`Time to first token by provider` on the dashboard; `routes list`; another route first, or a fallback.'
  return {
    SlowFirstTokens: {
      says: 'One of twenty answers began later than slowFirstTokenMs allows',
      remedy,
      metric: p95('TimeToFirstToken'),
      from: stage.slowFirstTokenMs,
      periods: 2,
      ignoresFew: true,
    },
    SlowRequests: {
      says: 'One of twenty requests took longer than five minutes',
      remedy,
      metric: p95('Duration'),
      from: SLOW_REQUEST_MS,
      periods: 2,
      ignoresFew: true,
    },
  }
}

/**
 * Only if the stage reserves some: Lambda is not among the services whose usage CloudWatch compares with their quota
 * ("Visualizing your service quotas and setting alarms" in its guide). The maximum, as monitoring-concurrency in
 * Lambda's guide has it.
 */
function concurrencyRules({ stage: { chatConcurrency }, functions: { chat } }: Watched): Rules {
  if (chatConcurrency === null) return {}
  return {
    ConcurrencyHigh: {
      says: 'Four fifths of the chats that may run at once are running',
      remedy: 'Raise the concurrency before callers are refused; `usage summary --by key` names who makes them.',
      metric: chat.metric('ConcurrentExecutions', { ...IN_FIVE_MINUTES, statistic: 'Maximum' }),
      from: Math.ceil(chatConcurrency * 0.8),
      periods: 2,
    },
  }
}

/** Rows with a limited life must be closed and exported long before its end. */
function closingRules({ stage, functions: { close } }: Watched): Rules {
  const hourly = { period: Duration.hours(1), statistic: 'Sum' } as const
  return {
    ClosingStopped: {
      says: 'No run that closes days has succeeded for three hours, as before the first one of a stage',
      remedy: 'The log `CloseLogs`; its schedule in EventBridge Scheduler.',
      metric: withoutSuccess(close, hourly),
      from: 1,
      periods: 3,
      isBadIfMissing: true,
    },
    DaysBehind: {
      says: 'Two days or more that have ended are not closed, or not exported',
      remedy: 'The log `CloseLogs`; `audit` names a request that died and is not swept.',
      metric: gatewayMetric(stage, 'DaysBehind', 'Maximum').with({ period: hourly.period }),
      from: 2,
      periods: 3,
    },
  }
}
