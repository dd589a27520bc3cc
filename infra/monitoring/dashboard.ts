import { Aws } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch'
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { METRICS_NAMESPACE } from '../../layers/gateway/names.ts'
import type { Functions } from '../functions/functions.ts'
import type { Stage } from '../stages.ts'
import { gatewayMetric } from './alarms.ts'

export function addDashboard(scope: Construct, stage: Stage, { chat }: Functions): string {
  const metric = (name: string) => gatewayMetric(stage, name)
  const percentiles = (name: string) =>
    ['p50', 'p95', 'p99'].map((label) => gatewayMetric(stage, name, label).with({ label }))
  const by = (name: string, dimension: string, statistic = 'Sum') => {
    const where = `{${METRICS_NAMESPACE},stage,${dimension}} MetricName="${name}" stage="${stage.name}"`
    return new MathExpression({ expression: `SEARCH('${where}', '${statistic}', 300)`, usingMetrics: {}, label: '' })
  }
  const graphs: [title: string, metrics: IMetric[]][] = [
    ['Requests, and calls that ask no model', [metric('Requests'), metric('Calls')]],
    ['Errors by fault', ['Refusals', 'UpstreamErrors', 'ServerErrors', 'Unrecorded'].map((name) => metric(name))],
    ['Failed attempts at upstreams', [metric('UpstreamFailures')]],
    ['Requests without a valid key', [metric('InvalidKeys')]],
    ['Errors by code', [by('Errors', 'errorCode')]],
    ['Requests by model', [by('Requests', 'model')]],
    ['Requests by provider', [by('Requests', 'provider')]],
    ['Time to first token', percentiles('TimeToFirstToken')],
    ['Time to first token by provider (p95)', [by('TimeToFirstToken', 'provider', 'p95')]],
    ['Duration', percentiles('Duration')],
    ['Tokens', [metric('PromptTokens'), metric('CompletionTokens')]],
    ['Tokens by model', [by('PromptTokens', 'model'), by('CompletionTokens', 'model')]],
    ['Credits spent and held', [metric('Credits'), metric('CreditsHeld')]],
    ['Credits by model', [by('Credits', 'model')]],
    ['Charged, what it cost us, and the loss', ['Credits', 'UpstreamCost', 'Loss'].map((name) => metric(name))],
    [
      'Usage rejected, billed at the bound, beyond the cap',
      ['UsageRejected', 'BilledAtBound', 'BeyondCap'].map((name) => metric(name)),
    ],
    ['Prompts above the context', [metric('ContextExceeded'), by('ContextExceeded', 'route')]],
    ['Rough estimates', [metric('RoughEstimates')]],
    ['Answers given up, unpaid', [metric('UnpaidAnswers'), by('UnpaidAnswers', 'provider')]],
    ['Holds: unsettled and swept', [metric('Unsettled'), metric('SweptHolds')]],
    ['Chat function', [chat.metricInvocations(), chat.metricErrors(), chat.metricThrottles()]],
  ]
  const widgets = graphs.map(([title, left]) => new GraphWidget({ title, left, width: 12 }))
  const rows = Array.from({ length: Math.ceil(widgets.length / 2) }, (_, i) => widgets.slice(2 * i, 2 * i + 2))
  // The name has the region, because all regions of an account share the names of dashboards.
  const dashboardName = `Waybill-${stage.name}-${Aws.REGION}`
  new Dashboard(scope, 'Dashboard', { dashboardName, widgets: rows })
  return `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${dashboardName}`
}

const SHOWN = 'fields @timestamp, level, event, requestId, keyId, model, provider, httpStatus, errorCode, durationMs'
const FAULT = 'what, error.message, reason, message'

/** Queries of Logs Insights over the lines of layers/gateway/platform/log. A word in capitals is replaced before it is run. */
const QUERIES: Readonly<Record<string, string>> = {
  'by request id': `${SHOWN}, ${FAULT} | filter requestId = "REQUEST_ID" | sort @timestamp asc`,
  'by key': `${SHOWN} | filter keyId = "KEY_ID" | sort @timestamp desc | limit 200`,
  'by level': `fields @timestamp, level, event, requestId, provider, ${FAULT}, @log | filter level in ["warn", "error"] | sort @timestamp desc | limit 200`,
}

export function addSavedQueries(scope: Construct, { name: stage }: Stage, { all }: Functions): void {
  for (const [name, queryString] of Object.entries(QUERIES)) {
    new CfnQueryDefinition(scope, `Query ${name}`, {
      name: `Waybill-${stage}/${name}`,
      queryString,
      logGroupNames: all.map(({ logGroup }) => logGroup.logGroupName),
    })
  }
}
