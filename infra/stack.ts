import { Annotations, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { ENV, functionOutput, logsOutput, OUTPUTS } from '../layers/gateway/contract.ts'
import { AdminApi } from './api/admin-api.ts'
import { Api } from './api/api.ts'
import { CatalogSeed } from './data/catalog-seed.ts'
import { KeysTrail } from './data/keys-trail.ts'
import { NoticeBus } from './data/notice-bus.ts'
import { Tables } from './data/tables.ts'
import { UsageExport } from './data/usage-export.ts'
import { addDomainRecords } from './edge/domain.ts'
import { Edge } from './edge/edge.ts'
import { EdgeLogs } from './edge/edge-logs.ts'
import { addEdgeParts, type EdgeParts } from './edge/edge-parts.ts'
import { firewallLogs } from './edge/firewall.ts'
import { originSecrets } from './edge/origin-secrets.ts'
import { Functions } from './functions/functions.ts'
import { Rollout } from './functions/rollout.ts'
import { Monitoring } from './monitoring/monitoring.ts'
import { Operators } from './rights/operators.ts'
import { SETTINGS_FILE } from './settings.ts'
import { ADOPTED_BUCKET_TAG, ADOPTED_TAG, type Stage } from './stages.ts'

type WaybillProps = StackProps & {
  readonly stage: Stage
  /** The resources in us-east-1, if they are in stacks of their own. */
  readonly edgeParts?: EdgeParts
}

export class WaybillStack extends Stack {
  constructor(scope: Construct, id: string, { stage, edgeParts, ...props }: WaybillProps) {
    super(scope, id, {
      description: `Waybill ${stage.name}: a chat routing gateway with an OpenAI-compatible contract`,
      terminationProtection: stage.deletionProtection,
      // For the bill: a cost allocation tag, once it is activated in the account.
      tags: {
        'waybill:stage': stage.name,
        ...(stage.tableNames && { [ADOPTED_TAG]: 'true' }),
        ...(stage.exportBucket && { [ADOPTED_BUCKET_TAG]: 'true' }),
      },
      ...props,
    })
    if (stage.deletionProtection && !stage.alarmEmail) {
      const warning = `Alarms of ${stage.name} are mailed to nobody: set "alarmEmail" in ${SETTINGS_FILE}, or subscribe to its topics.`
      Annotations.of(this).addWarningV2('waybill:alarmEmail', warning)
    }
    const tables = new Tables(this, 'Tables', stage)
    new CatalogSeed(this, 'Catalog', tables, stage)

    const secrets = stage.edge ? originSecrets(this, stage.originSecretNumber) : undefined
    const usageExport = stage.exportUsage ? new UsageExport(this, 'UsageExport', stage) : undefined
    const noticeBus = stage.notices ? new NoticeBus(this, 'Notices', stage) : undefined
    const functions = new Functions(this, 'Functions', {
      stage,
      tables,
      originSecrets: secrets?.accepted,
      usageExport,
      noticeBus,
    })
    const chatUrl = functions.chat.live.addFunctionUrl({
      // The bearer key is the authentication.
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    })
    const { api, logs: apiLogs } = new Api(this, 'Api', { stage, functions })
    const parts = edgeParts ?? addEdgeParts(stage, (_, make) => ({ arn: make(this), stackName: this.stackName }))
    const distribution = secrets
      ? new Edge(this, 'Edge', { stage, chatUrl, api, originSecret: secrets.sent, ...parts }).distribution
      : undefined
    const { admin } = functions
    const { api: adminApi, logs: adminApiLogs } = admin ? new AdminApi(this, 'AdminApi', { stage, admin }) : {}
    const edge = distribution && !edgeParts ? { ...parts, distributionId: distribution.distributionId } : undefined
    const monitoring = new Monitoring(this, 'Monitoring', { stage, functions, tables, api, adminApi, edge })
    const { alarms } = monitoring
    const rollout =
      stage.rollout === 'canary' ? new Rollout(this, 'Rollout', { stage, functions, alarms }).application : undefined

    const logs = { ...logsOf(functions), Api: apiLogs, ...(adminApiLogs && { AdminApi: adminApiLogs }) }
    const onCall = {
      functions: functions.all,
      logs: Object.values(logs),
      firewallLogs: parts.webAcl && firewallLogs(parts.webAcl.stackName),
      rollout,
    }
    const operators = new Operators(this, 'Operators', { stage, tables, adminApi, onCall })

    if (stage.keysTrail) new KeysTrail(this, 'KeysTrail', { tables, functions })

    const baseUrl = distribution
      ? `https://${stage.domain?.name ?? distribution.distributionDomainName}/v1`
      : `${chatUrl.url}v1`
    admin?.addEnvironment(ENV.baseUrl, baseUrl)
    const apiUrl = distribution ? baseUrl : `${api.apiEndpoint}/v1`
    functions.probe?.addEnvironment(ENV.baseUrl, apiUrl)
    if (adminApi) this.#output(OUTPUTS.adminUrl, adminApi.apiEndpoint)
    if (distribution) {
      const { distributionDomainName, distributionId } = distribution
      addDomainRecords(this, stage, distribution)
      if (stage.edgeLogs && !edgeParts) new EdgeLogs(this, 'EdgeLogs', { stage, distributionId })
      this.#output(OUTPUTS.baseUrl, baseUrl)
      // The target of the operator's own DNS records.
      if (stage.domain) this.#output(OUTPUTS.edgeDomain, distributionDomainName)
      if (edgeParts) this.#output(OUTPUTS.distributionId, distributionId)
    } else {
      this.#output(OUTPUTS.chatUrl, baseUrl)
      this.#output(OUTPUTS.apiUrl, apiUrl)
    }
    this.#output(OUTPUTS.keysTable, tables.keys.tableName)
    this.#output(OUTPUTS.usageTable, tables.usage.tableName)
    this.#output(OUTPUTS.answersTable, tables.answers.tableName)
    if (usageExport) {
      this.#output(OUTPUTS.exportBucket, usageExport.bucket.bucketName)
      this.#output(OUTPUTS.exportDatabase, usageExport.database)
    }
    if (noticeBus) this.#output(OUTPUTS.eventBus, noticeBus.bus.eventBusName)
    this.#output(OUTPUTS.operatorPolicy, operators.operator.managedPolicyArn)
    this.#output(OUTPUTS.readerPolicy, operators.reader.managedPolicyArn)
    this.#output(OUTPUTS.onCallPolicy, operators.onCall.managedPolicyArn)
    this.#output(OUTPUTS.dashboard, monitoring.dashboardUrl)
    if (rollout) this.#output(OUTPUTS.rollout, rollout.applicationName)
    if (onCall.firewallLogs) this.#output(logsOutput('Firewall'), onCall.firewallLogs)
    for (const [name, { logGroupName }] of Object.entries(logs)) this.#output(logsOutput(name), logGroupName)
    for (const fn of functions.all) this.#output(functionOutput(fn.node.id), fn.functionName)
    // A Function URL always accepts IPv6.
    this.#output(OUTPUTS.ipv6, String(stage.ipv6 || !stage.edge))
    this.#output(OUTPUTS.protected, String(stage.deletionProtection))
  }

  #output(name: string, value: string): void {
    new CfnOutput(this, name, { value })
  }
}

function logsOf({ all }: Functions): Record<string, ILogGroup> {
  return Object.fromEntries(all.map((fn) => [fn.node.id, fn.logGroup]))
}
