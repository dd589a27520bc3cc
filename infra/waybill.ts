import { Annotations, CfnOutput, Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { EventBus } from 'aws-cdk-lib/aws-events'
import type { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { ENV, functionOutput, logsOutput, OUTPUTS } from '../layers/gateway/names.ts'
import { addAdminApi, addApi } from './apis.ts'
import { addBackup } from './data/backup.ts'
import { addCatalogSeed } from './data/catalog-seed.ts'
import { addKeysTrail } from './data/keys-trail.ts'
import { addNoticeBus } from './data/notice-bus.ts'
import { addTables } from './data/tables.ts'
import { addUsageExport } from './data/usage-export.ts'
import { addDomainRecords } from './edge/domain.ts'
import { addEdge, originSecrets } from './edge/edge.ts'
import { addEdgeLogs } from './edge/edge-logs.ts'
import { firewallLogsOf } from './edge/firewall.ts'
import { addEdgeParts, stacksInUsEast1 } from './edge/parts-in-us-east-1.ts'
import { addFunctions } from './functions/functions.ts'
import { addRollout } from './functions/rollout.ts'
import { addMonitoring } from './monitoring/monitoring.ts'
import { checkPlace, regionOf, setFeatureFlags, stageFrom } from './placement.ts'
import type { WaybillProps } from './props.ts'
import { US_EAST_1 } from './regions.ts'
import { addOperators } from './rights/operators.ts'
import { readSeed } from './settings.ts'

export type { Settings, WaybillProps } from './props.ts'

/**
 * A gateway in a stack of any app. Outside of us-east-1, what CloudFront needs there is in stacks of its own beside it.
 * A stack has one at most, because the command line finds it by the stack's outputs.
 */
export class Waybill extends Construct {
  /** The address for SDKs, with `/v1`; without CloudFront for chat only. */
  readonly baseUrl: string
  /** The address for everything but chat, with `/v1`; another address than `baseUrl` only without CloudFront. */
  readonly apiUrl: string
  /** The address of the admin API. */
  readonly adminUrl: string
  /** Present with the setting `edge`. */
  readonly distribution: Distribution | undefined
  /** Keys, their credits, and the catalog. */
  readonly keysTable: TableV2
  /** A row of each request. */
  readonly usageTable: TableV2
  /** Answers that are kept for a day, for retries. */
  readonly answersTable: TableV2
  /** The bucket of exported days, with the setting `exportUsage`. */
  readonly exportBucket: Bucket | undefined
  /** The database by which Athena reads them. */
  readonly exportDatabase: string | undefined
  /** The bus of notices, with the setting `notices`. */
  readonly eventBus: EventBus | undefined
  /** The policy for those who make keys, grant credits and push catalogs; to be attached to their roles, as the next two. */
  readonly operatorPolicy: ManagedPolicy
  /** The policy for those who only look. */
  readonly readerPolicy: ManagedPolicy
  /** The policy for those who are called up: logs, metrics, and what stops a fault. */
  readonly onCallPolicy: ManagedPolicy
  /** Gets the alarms for faults that callers feel now. */
  readonly pageTopic: Topic
  /** Gets the alarms that can wait for a working day. */
  readonly ticketTopic: Topic
  /** The address of the dashboard. */
  readonly dashboard: string

  constructor(scope: Construct, id: string, props: WaybillProps) {
    super(scope, id)
    setFeatureFlags(this)
    const stack = Stack.of(this)
    const stage = stageFrom(this, props)
    checkPlace(this, stage)
    const region = regionOf(stack)
    const seed = readSeed(props.catalog)
    const missing = {
      alarmEmail: `Alarms of ${stage.name} are mailed to nobody: set "alarmEmail", or subscribe to its topics.`,
      backup: `Nothing of ${stage.name} is kept outside of ${region}: set "backup" (docs/disaster-recovery.md).`,
    }
    for (const [name, warning] of stage.deletionProtection ? Object.entries(missing) : []) {
      if (!stage[name as keyof typeof missing]) Annotations.of(this).addWarningV2(`waybill:${name}`, warning)
    }
    const tables = addTables(this, stage)
    addCatalogSeed(this, tables, stage, seed)

    const secrets = stage.edge ? originSecrets(this, stage.originSecretNumber) : undefined
    const usageExport = stage.exportUsage ? addUsageExport(this, stage) : undefined
    const noticeBus = stage.notices ? addNoticeBus(this, stage) : undefined
    const given = { stage, tables, usageExport, noticeBus, catalog: seed.catalog }
    const functions = addFunctions(this, { ...given, originSecrets: secrets?.accepted })
    const chatUrl = functions.chat.live.addFunctionUrl({
      // The bearer key is the authentication.
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    })
    const { api, logs: apiLogs } = addApi(this, stage, functions)
    const beside = region === US_EAST_1 ? undefined : stacksInUsEast1(stack, stage, region)
    const parts = beside?.parts ?? addEdgeParts(stage, (_, make) => ({ arn: make(this), stackName: stack.stackName }))
    const distribution = secrets
      ? addEdge(this, { stage, chatUrl, api, originSecret: secrets.sent, ...parts })
      : undefined
    const { api: adminApi, logs: adminApiLogs } = addAdminApi(this, stage, functions)
    const edge = distribution && !beside ? { ...parts, distributionId: distribution.distributionId } : undefined
    const monitoring = addMonitoring(this, { stage, functions, tables, api, adminApi, edge })
    const { alarms, topics } = monitoring
    const rollout = stage.rollout === 'canary' ? addRollout(this, stage, functions, alarms) : undefined
    const ofFunctions = Object.fromEntries(functions.all.map((fn) => [fn.node.id, fn.logGroup]))
    const logs = { ...ofFunctions, ApiAccess: apiLogs, AdminApi: adminApiLogs }
    const firewallLogs = stage.edgeLogs && parts.webAcl ? firewallLogsOf(parts.webAcl.stackName) : undefined
    const watched = { functions: functions.all, logs: Object.values(logs) }
    const operators = addOperators(this, { stage, adminApi, tables, firewallLogs, rollout, ...watched })

    if (stage.keysTrail) addKeysTrail(this, tables, functions)
    addBackup(this, tables, stage)
    if (distribution) {
      addDomainRecords(this, stage, distribution)
      if (stage.edgeLogs && !beside) addEdgeLogs(this, stage, distribution.distributionId)
      beside?.watch()
    }

    this.baseUrl = distribution
      ? `https://${stage.domain?.name ?? distribution.distributionDomainName}/v1`
      : `${chatUrl.url}v1`
    this.apiUrl = distribution ? this.baseUrl : `${api.apiEndpoint}/v1`
    functions.admin.addEnvironment(ENV.baseUrl, this.baseUrl)
    functions.probe?.addEnvironment(ENV.baseUrl, this.baseUrl).addEnvironment(ENV.apiUrl, this.apiUrl)
    this.adminUrl = adminApi.apiEndpoint
    this.distribution = distribution
    this.keysTable = tables.keys
    this.usageTable = tables.usage
    this.answersTable = tables.answers
    this.exportBucket = usageExport?.bucket
    this.exportDatabase = usageExport?.database
    this.eventBus = noticeBus?.bus
    this.operatorPolicy = operators.operator
    this.readerPolicy = operators.reader
    this.onCallPolicy = operators.onCall
    this.pageTopic = topics.page
    this.ticketTopic = topics.ticket
    this.dashboard = monitoring.dashboardUrl

    const outputs = {
      ...(distribution
        ? { [OUTPUTS.baseUrl]: this.baseUrl }
        : { [OUTPUTS.chatUrl]: this.baseUrl, [OUTPUTS.apiUrl]: this.apiUrl }),
      [OUTPUTS.adminUrl]: this.adminUrl,
      // The target of the operator's own DNS records.
      [OUTPUTS.edgeDomain]: stage.domain && distribution?.distributionDomainName,
      [OUTPUTS.distributionId]: beside && distribution?.distributionId,
      [OUTPUTS.keysTable]: this.keysTable.tableName,
      [OUTPUTS.usageTable]: this.usageTable.tableName,
      [OUTPUTS.answersTable]: this.answersTable.tableName,
      [OUTPUTS.exportBucket]: this.exportBucket?.bucketName,
      [OUTPUTS.exportDatabase]: this.exportDatabase,
      [OUTPUTS.eventBus]: this.eventBus?.eventBusName,
      [OUTPUTS.operatorPolicy]: this.operatorPolicy.managedPolicyArn,
      [OUTPUTS.readerPolicy]: this.readerPolicy.managedPolicyArn,
      [OUTPUTS.onCallPolicy]: this.onCallPolicy.managedPolicyArn,
      [OUTPUTS.dashboard]: this.dashboard,
      [OUTPUTS.rollout]: rollout?.applicationName,
      [logsOutput('Firewall')]: firewallLogs,
      ...Object.fromEntries(Object.entries(logs).map(([name, log]) => [logsOutput(name), log.logGroupName])),
      ...Object.fromEntries(functions.all.map((fn) => [functionOutput(fn.node.id), fn.functionName])),
      // A Function URL always accepts IPv6.
      [OUTPUTS.ipv6]: String(stage.ipv6 || !stage.edge),
      [OUTPUTS.protected]: String(stage.deletionProtection),
      [OUTPUTS.stage]: stage.name,
    }
    // Under their plain names in every stack, by which the command line knows them.
    for (const [name, value] of Object.entries<string | undefined>(outputs)) {
      if (value !== undefined) new CfnOutput(this, name, { value }).overrideLogicalId(name)
    }
  }
}
