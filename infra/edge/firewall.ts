import { CfnDeletionPolicy, Stack } from 'aws-cdk-lib'
import { CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { addLogs } from '../data/retention.ts'
import { arnOf } from '../rights/permissions.ts'
import type { Stage } from '../stages.ts'

/** WAF demands this prefix. */
export const firewallLogsOf = (stackName: string) => `aws-waf-logs-${stackName}`

/** A web firewall for CloudFront: a limit for each address, and AWS's common rules, which count or block. Returns its ARN. */
export function addFirewall(parent: Construct, stage: Stage): string {
  const scope = new Construct(parent, 'Firewall')
  const webAcl = new CfnWebACL(scope, 'WebAcl', {
    scope: 'CLOUDFRONT',
    description: `In front of Waybill ${stage.name}`,
    defaultAction: { allow: {} },
    // The dimension of its metrics, which all firewalls of an account share.
    visibilityConfig: metric(Stack.of(scope).stackName),
    dataProtectionConfig: { dataProtections: WITHHELD },
    customResponseBodies: { [TOO_MANY]: { contentType: 'APPLICATION_JSON', content: REFUSAL } },
    rules: [limitOfEachAddress(stage), commonRules(stage)],
  })
  // CloudFront uses the former one until its own stack has been deployed, too.
  webAcl.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN
  webAcl.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE
  if (stage.edgeLogs) addRefusalLogs(scope, stage, webAcl.attrArn)
  return webAcl.attrArn
}

/** Logs the requests that were blocked or counted; the others are in CloudFront's log. */
function addRefusalLogs(scope: Construct, stage: Stage, resourceArn: string): void {
  const logs = addLogs(scope, 'Logs', stage, firewallLogsOf(Stack.of(scope).stackName))
  const Conditions = ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({ ActionCondition: { Action } }))
  new CfnLoggingConfiguration(scope, 'Logging', {
    resourceArn,
    // The log's own attribute ends in ":*", which WAF refuses.
    logDestinationConfigs: [arnOf(scope, 'logs', 'log-group', logs.logGroupName)],
    redactedFields: [{ uriPath: {} }, { queryString: {} }],
    loggingFilter: { DefaultBehavior: 'DROP', Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions }] },
  })
}

/** WAF's records never have a header, cookie, query or body, which may contain a key or a prompt. */
const WITHHELD = ['SINGLE_HEADER', 'SINGLE_COOKIE', 'SINGLE_QUERY_ARGUMENT', 'QUERY_STRING', 'BODY'].map(
  (fieldType) => ({ field: { fieldType }, action: 'SUBSTITUTION' }),
)

const TOO_MANY = 'TooManyRequests'
const { status, message, type, code, param } = new GatewayError(
  'rate_limit_exceeded',
  'Too many requests came from your address in the last five minutes. Wait a minute before the next one.',
)
/** In the shape of every other refusal, so that SDKs can read it and wait. */
const REFUSAL = JSON.stringify({ error: { message, type, param, code } })

function limitOfEachAddress({ chatConcurrency }: Stage): CfnWebACL.RuleProperty {
  // In five minutes: as many as 500 executions for chats serve in that time, if each takes 1.5 seconds.
  const limit = Math.max(100_000, 200 * (chatConcurrency ?? 0))
  const responseHeaders = [{ name: 'Retry-After', value: '60' }]
  const customResponse = { responseCode: status, customResponseBodyKey: TOO_MANY, responseHeaders }
  return {
    name: 'LimitOfEachAddress',
    priority: 0,
    action: { block: { customResponse } },
    statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit, evaluationWindowSec: 300 } },
    visibilityConfig: metric('LimitOfEachAddress'),
  }
}

/** Rules that look into a body only count: a prompt may contain anything that they look for. */
const OF_THE_BODY = ['SizeRestrictions', 'CrossSiteScripting', 'GenericLFI', 'GenericRFI', 'EC2MetaDataSSRF']

function commonRules({ waf }: Stage): CfnWebACL.RuleProperty {
  return {
    name: 'CommonRules',
    priority: 1,
    overrideAction: waf === 'block' ? { none: {} } : { count: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name: 'AWSManagedRulesCommonRuleSet',
        ruleActionOverrides: OF_THE_BODY.map((name) => ({ name: `${name}_BODY`, actionToUse: { count: {} } })),
      },
    },
    visibilityConfig: metric('CommonRules'),
  }
}

/** Samples of requests are off: they would show paths. */
function metric(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false }
}
