import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { EdgeParts } from '../edge/edge-parts.ts'
import { firewallMetric } from '../edge/firewall.ts'
import { IN_FIVE_MINUTES } from './metrics.ts'
import type { Rules } from './rule.ts'

/** CloudFront and its parts, whose metrics are in us-east-1 only: an alarm sees its own region only. */
export type WatchedEdge = Pick<EdgeParts, 'certificateArn' | 'webAcl'> & { readonly distributionId: string }

/** ACM renews a certificate long before. */
const LEAST_DAYS = 21

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

export function edgeTickets({ webAcl, certificateArn }: WatchedEdge): Rules {
  return {
    ...(webAcl && firewallBlocks(firewallMetric(webAcl.stackName))),
    ...(certificateArn !== undefined && certificateEnds(certificateArn)),
  }
}

/** Without a region, which CloudFront's firewalls have none of ("AWS WAF metrics and dimensions" in its guide). */
function firewallBlocks(WebACL: string): Rules {
  const dimensionsMap = { WebACL, Rule: 'ALL' }
  return {
    FirewallBlocks: {
      says: 'The firewall blocks a hundred requests in five minutes',
      remedy:
        'The log `FirewallLogs` names address and rule; for good clients raise `chatConcurrency`, or set `waf` to `count`.',
      metric: new Metric({ namespace: 'AWS/WAFV2', metricName: 'BlockedRequests', dimensionsMap, ...IN_FIVE_MINUTES }),
      from: 100,
      periods: 2,
    },
  }
}

/** ACM publishes it twice a day ("Supported CloudWatch metrics" in its guide). */
function certificateEnds(CertificateArn: string): Rules {
  const period = Duration.days(1)
  const days = new Metric({
    namespace: 'AWS/CertificateManager',
    metricName: 'DaysToExpiry',
    dimensionsMap: { CertificateArn },
    statistic: 'Minimum',
    period,
  })
  return {
    CertificateEnds: {
      says: `The certificate of the domain ends within ${LEAST_DAYS} days`,
      remedy:
        'ACM in us-east-1 says why it was not renewed: a DNS record is gone, or it was imported and is yours to renew.',
      metric: new MathExpression({ expression: `IF(days <= ${LEAST_DAYS}, 1, 0)`, usingMetrics: { days }, period }),
      from: 1,
      periods: 1,
    },
  }
}
