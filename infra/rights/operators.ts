import { ArnFormat, Stack, Validations } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { ITEMS } from '../../layers/gateway/contract.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import { ADMIN_LOOKING_POSTS, ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import type { Tables } from '../data/tables.ts'
import type { Stage } from '../stages.ts'
import { acknowledgedWildcards, invokeBedrock } from './bedrock.ts'
import { acknowledgedOnCall, type OnCall, onCallStatements } from './on-call.ts'
import {
  acknowledgedSecrets,
  changeAdminKeys,
  changeKeysAndCatalog,
  describeTables,
  readAdminGrants,
  readProviderSecrets,
  readTables,
} from './permissions.ts'
import { wildcard } from './wildcard.ts'

type Props = {
  readonly stage: Stage
  readonly onCall: OnCall
  readonly tables: Tables
  readonly adminApi?: HttpApi | undefined
  readonly catalog: CatalogData
}

/** Policies for people: the rights that the command line needs on this stage. They must be attached to somebody. */
export class Operators extends Construct {
  readonly operator: ManagedPolicy
  readonly reader: ManagedPolicy
  readonly onCall: ManagedPolicy

  constructor(scope: Construct, id: string, { stage, tables, adminApi, onCall, catalog }: Props) {
    super(scope, id)
    const reading = [this.#findStage(), describeTables(tables), ...readTables(tables), readAdminGrants(tables)]
    this.reader = new ManagedPolicy(this, 'WaybillReader', {
      description: `Reads keys, usage and the catalog of the Waybill stage ${stage.name}`,
      statements: [...reading, ...this.#call(adminApi, [callsBy('GET'), ...LOOKING_POSTS])],
    })
    this.operator = new ManagedPolicy(this, 'WaybillOperator', {
      description: `Operates the Waybill stage ${stage.name}: keys, credits, the catalog, tests of routes`,
      statements: [
        ...reading.map((statement) => statement.copy()),
        ...changeKeysAndCatalog(tables, [ITEMS.audit]),
        ...changeAdminKeys(tables),
        readProviderSecrets(this, stage),
        ...invokeBedrock(catalog),
        ...this.#call(adminApi, [callsBy('*')]),
      ],
    })
    const stack = Stack.of(this)
    this.onCall = new ManagedPolicy(this, 'WaybillOnCall', {
      description: `Finds and stops faults of the Waybill stage ${stage.name}: logs, metrics, rollouts, concurrency`,
      statements: onCallStatements(stack, onCall),
    })
    Validations.of(this.onCall).acknowledge(...acknowledgedOnCall(stack, onCall))
    if (adminApi) Validations.of(this.reader).acknowledge(acknowledgedCalls(adminApi, 'GET'))
    Validations.of(this.operator).acknowledge(
      ...(adminApi ? [acknowledgedCalls(adminApi, '*')] : []),
      {
        id: acknowledgedSecrets(this, stage),
        reason:
          '`routes test` calls every provider of this stage with its key. Which there are is the catalog’s to say.',
      },
      ...acknowledgedWildcards(catalog),
    )
  }

  /** By the stack's own id, which CloudFormation checks even if a stack is called by its name. */
  #findStage(): PolicyStatement {
    return new PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [Stack.of(this).stackId] })
  }

  #call(api: HttpApi | undefined, calls: readonly string[]): PolicyStatement[] {
    if (!api) return []
    const resources = calls.map((call) => arnOf(api, call))
    return [new PolicyStatement({ actions: ['execute-api:Invoke'], resources })]
  }
}

const callsBy = (method: string, path = '/*') => `$default/${method}${ADMIN_PATHS.signed}${path}`
const LOOKING_POSTS = ADMIN_LOOKING_POSTS.map((path) => callsBy('POST', path))

function arnOf(api: HttpApi, call: string): string {
  const [service, arnFormat] = ['execute-api', ArnFormat.NO_RESOURCE_NAME]
  return Stack.of(api).formatArn({ service, resource: `${api.apiId}/${call}`, arnFormat })
}

function acknowledgedCalls(api: HttpApi, method: string) {
  return {
    id: wildcard(api, arnOf(api, callsBy(method))),
    reason: 'Every path of this one API by this method: it has one for each key, request and version.',
  }
}
