import { ArnFormat, Aws, Duration, Stack } from 'aws-cdk-lib'
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { Construct } from 'constructs'
import {
  CLOSE_EVERY_MINUTES,
  ENV,
  FUNCTION_TIMEOUT_SECONDS,
  SWEEP_EVERY_MINUTES,
  secretName,
} from '../layers/gateway/contract.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import { API_FUNCTION_NAMES, type ApiFunctionName, FUNCTIONS, type FunctionName } from '../layers/gateway/endpoints.ts'
import { acknowledgedWildcards, invokeBedrock } from './bedrock.ts'
import { GatewayFunction } from './gateway-function.ts'
import { changeKeysAndCatalog, readTables, tablePermissions, takeAdminKeys } from './permissions.ts'
import { readSeedCatalog } from './read-seed-catalog.ts'
import { GIVES_MEMORY_BACK, type Stage } from './stages.ts'
import type { Tables } from './tables.ts'
import type { UsageExport } from './usage-export.ts'

type Props = {
  readonly stage: Stage
  readonly tables: Tables
  /** The secrets by which CloudFront proves itself; undefined without CloudFront. */
  readonly originSecrets: string | undefined
  /** The export of closed days; undefined if they stay. */
  readonly usageExport?: UsageExport | undefined
  readonly catalog?: CatalogData
}

const API_TIMEOUT_SECONDS = 29
const TOKENIZER_TIMEOUT_SECONDS = 10
/** Time for a cold start, an estimate and the settlement, out of CloudFront's timeout. */
const EDGE_RESERVE_MS = 10_000

/** The functions, each with no more rights than it needs. */
export class Functions extends Construct {
  readonly chat: GatewayFunction
  readonly tokenizer: GatewayFunction
  readonly api: Readonly<Record<ApiFunctionName, GatewayFunction>>
  readonly sweep: GatewayFunction
  readonly close: GatewayFunction
  readonly admin: GatewayFunction | undefined

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { stage, tables, originSecrets, usageExport, catalog = readSeedCatalog() } = props
    const may = tablePermissions(tables)
    const environment = {
      [ENV.keysTable]: tables.keys.tableName,
      [ENV.usageTable]: tables.usage.tableName,
      [ENV.answersTable]: tables.answers.tableName,
      [ENV.stage]: stage.name,
      ...(stage.keepRowsDays !== null && { [ENV.keepRowsDays]: String(stage.keepRowsDays) }),
    }
    const called = {
      ...environment,
      ...(originSecrets && { [ENV.originSecrets]: originSecrets }),
    }
    const rightsOf = (name: FunctionName) => FUNCTIONS[name].rights.map((right) => may[right])

    this.tokenizer = new GatewayFunction(this, 'Tokenizer', {
      name: 'tokenizer',
      description: 'Counts tokens with js-tiktoken where no upstream has',
      stage,
      environment: {},
      memoryMb: stage.tokenizerMemoryMb,
      timeoutSeconds: TOKENIZER_TIMEOUT_SECONDS,
      // The rest that chat's own limit leaves.
      concurrency: null,
      may: [],
    })
    this.chat = new GatewayFunction(this, 'Chat', {
      name: 'chat',
      description: FUNCTIONS.chat.description,
      stage,
      environment: {
        ...called,
        ...GIVES_MEMORY_BACK,
        [ENV.tokenizerFunction]: this.tokenizer.functionName,
        // With a distribution in front: at its timeout the SDK would ask again for an answer that was generated and
        // paid for.
        ...(originSecrets && { [ENV.wholeAnswerMs]: String(stage.edgeTimeoutSeconds * 1000 - EDGE_RESERVE_MS) }),
      },
      memoryMb: stage.chatMemoryMb,
      timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
      concurrency: stage.chatConcurrency,
      may: [...rightsOf('chat'), invoke(this.tokenizer), readProviderSecrets(this, stage), ...invokeBedrock(catalog)],
      acknowledged: [
        {
          id: `AwsSolutions::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:${secretName(stage.name, '*')}]`,
          reason: 'Provider keys of this stage only. Which there are is the catalog’s to say, and needs no deployment.',
        },
        ...acknowledgedWildcards(catalog),
      ],
    })
    const apiFunction = (name: ApiFunctionName) =>
      new GatewayFunction(this, `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, {
        stage,
        environment: called,
        memoryMb: stage.apiMemoryMb,
        timeoutSeconds: API_TIMEOUT_SECONDS,
        concurrency: stage.apiConcurrency,
        name,
        description: FUNCTIONS[name].description,
        may: rightsOf(name),
      })
    this.api = Object.fromEntries(API_FUNCTION_NAMES.map((name) => [name, apiFunction(name)])) as typeof this.api
    this.sweep = new GatewayFunction(this, 'Sweep', {
      name: 'sweep',
      description: 'Finishes requests that died',
      stage,
      environment,
      memoryMb: stage.apiMemoryMb,
      timeoutSeconds: SWEEP_EVERY_MINUTES * 60 - 10,
      concurrency: stage.sweepConcurrency,
      may: [may.findKeysToSweep, may.readKeyItems, may.admitAndSettle, may.writeRows],
    })
    this.#start(this.sweep, 'SweepSchedule', 'SchedulerRole', SWEEP_EVERY_MINUTES)
    this.close = new GatewayFunction(this, 'Close', {
      name: 'close',
      description: 'Closes days: adds their usage up, and exports it',
      stage,
      environment: { ...environment, ...(usageExport && { [ENV.exportBucket]: usageExport.bucket.bucketName }) },
      memoryMb: stage.apiMemoryMb,
      timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
      concurrency: stage.closeConcurrency,
      may: [may.listKeys, may.readRowsOfKeys, may.keepDays, ...(usageExport ? [usageExport.write] : [])],
      acknowledged: usageExport ? usageExport.acknowledged : [],
    })
    this.#start(this.close, 'CloseSchedule', 'CloseSchedulerRole', CLOSE_EVERY_MINUTES)
    this.admin = stage.admin ? this.#admin(stage, tables, environment) : undefined
  }

  /** The one function that can make a key. */
  #admin(stage: Stage, tables: Tables, environment: Readonly<Record<string, string>>): GatewayFunction {
    return new GatewayFunction(this, 'Admin', {
      name: 'admin',
      description: 'The admin API',
      stage,
      environment: {
        ...environment,
        [ENV.protected]: String(stage.deletionProtection),
        [ENV.adminKeys]: String(stage.adminKeys),
      },
      memoryMb: stage.apiMemoryMb,
      timeoutSeconds: API_TIMEOUT_SECONDS,
      concurrency: stage.adminConcurrency,
      may: [...readTables(tables), ...changeKeysAndCatalog(tables), ...(stage.adminKeys ? takeAdminKeys(tables) : [])],
    })
  }

  /**
   * Neither Scheduler, which hands the call to Lambda's queue, nor Lambda, which takes it from there, retries: the next
   * run does the same work. The queue may still deliver a call twice, which is harmless.
   */
  #start(fn: GatewayFunction, id: string, roleId: string, everyMinutes: number): void {
    const every = Duration.minutes(everyMinutes)
    fn.live.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every })
    new Schedule(this, id, {
      schedule: ScheduleExpression.rate(every),
      target: new LambdaInvoke(fn.live, { retryAttempts: 0, role: this.#schedulerRole(roleId, fn) }),
    })
  }

  /** May invoke the one function and nothing else, and only for schedules of this account. */
  #schedulerRole(id: string, fn: GatewayFunction): IRole {
    const group = { service: 'scheduler', resource: 'schedule-group', resourceName: 'default' }
    const conditions = {
      StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': Stack.of(this).formatArn(group) },
    }
    const assumedBy = new ServicePrincipal('scheduler.amazonaws.com', { conditions })
    const role = new Role(this, id, { assumedBy })
    role.addToPolicy(invoke(fn.live))
    return role.withoutPolicyUpdates()
  }

  /** The functions that callers call, and that a deployment can try on a part of the calls first. */
  get called(): GatewayFunction[] {
    return [this.chat, ...Object.values(this.api), ...(this.admin ? [this.admin] : [])]
  }

  get all(): GatewayFunction[] {
    return [...this.called, this.tokenizer, this.sweep, this.close]
  }
}

/** CDK's own grant would also allow its versions. */
function invoke(fn: IFunction): PolicyStatement {
  return new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [fn.functionArn] })
}

/** A secret's ARN ends in six random characters. */
export function readProviderSecrets(scope: Construct, stage: Stage): PolicyStatement {
  const resourceName = secretName(stage.name, '*')
  const arn = Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
  return new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [arn] })
}
