import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { IN_FIVE_MINUTES } from './metrics.ts'
import type { Rules } from './rule.ts'

/** CloudFront and its parts, whose metrics are in us-east-1 only: an alarm sees its own region only. */
export type WatchedEdge = { readonly distributionId: string }

/** All errors that viewers see: the gateway's own, the upstreams', and CloudFront's if it does not reach the gateway. */
export function edgePages({ distributionId: DistributionId }: WatchedEdge): Rules {
  const { period } = IN_FIVE_MINUTES
  const dimensionsMap = { DistributionId, Region: 'Global' }
  const metric = (metricName: string, statistic: string) =>
    new Metric({ namespace: 'AWS/CloudFront', metricName, statistic, dimensionsMap, period })
  return {
    EdgeErrors: {
      says: 'A fifth of the requests to CloudFront got a 5xx',
      remedy: 'If no other alarm is on, CloudFront does not reach the functions: `smoke`; the last deployment.',
      metric: new MathExpression({
        expression: 'IF(FILL(requests, 0) * FILL(rate, 0) >= 500, FILL(rate, 0), 0)',
        usingMetrics: { requests: metric('Requests', 'Sum'), rate: metric('5xxErrorRate', 'Average') },
        period,
      }),
      from: 20,
      periods: 2,
    },
  }
}
