import { ArnFormat, type CfnElement, Stack, Validations } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { ITEMS, secretName } from '../layers/gateway/contract.ts'
import { ADMIN_PATHS } from '../layers/gateway/endpoints.ts'
import { acknowledgedWildcards, invokeBedrock } from './bedrock.ts'
import { readProviderSecrets } from './functions.ts'
import { changeAdminKeys, changeKeysAndCatalog, readAdminGrants, readTables } from './permissions.ts'
import { readSeedCatalog } from './read-seed-catalog.ts'
import type { Stage } from './stages.ts'
import type { Tables } from './tables.ts'

type Props = {
  readonly stage: Stage
  readonly tables: Tables
  /** The admin API, if the stage has one. */
  readonly adminApi?: HttpApi | undefined
}

/** Policies for people: what the command line needs on this stage, and no more. Nobody has them until they are attached. */
export class Operators extends Construct {
  /** May do all that the command line does. */
  readonly operator: ManagedPolicy
  /** May look, and change nothing. */
  readonly reader: ManagedPolicy

  constructor(scope: Construct, id: string, { stage, tables, adminApi }: Props) {
    super(scope, id)
    const catalog = readSeedCatalog()
    const reading = [this.#findStage(), ...readTables(tables), readAdminGrants(tables)]
    this.reader = new ManagedPolicy(this, 'WaybillReader', {
      description: `Reads keys, usage and the catalog of the Waybill stage ${stage.name}`,
      statements: [...reading, ...this.#call(adminApi, 'GET')],
    })
    this.operator = new ManagedPolicy(this, 'WaybillOperator', {
      description: `Operates the Waybill stage ${stage.name}: keys, credits, the catalog, tests of routes`,
      statements: [
        ...reading.map((statement) => statement.copy()),
        ...changeKeysAndCatalog(tables, [ITEMS.audit]),
        ...changeAdminKeys(tables),
        readProviderSecrets(this, stage),
        ...invokeBedrock(catalog),
        ...this.#call(adminApi, '*'),
      ],
    })
    if (adminApi) Validations.of(this.reader).acknowledge(acknowledgedCalls(adminApi, 'GET'))
    Validations.of(this.operator).acknowledge(
      ...(adminApi ? [acknowledgedCalls(adminApi, '*')] : []),
      {
        id: `AwsSolutions::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:${secretName(stage.name, '*')}]`,
        reason:
          '`routes test` calls every provider of this stage with its key. Which there are is the catalog’s to say.',
      },
      ...acknowledgedWildcards(catalog),
    )
  }

  /** The stack's own id: CloudFormation asks for it even where a stack is called by its name. */
  #findStage(): PolicyStatement {
    return new PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [Stack.of(this).stackId] })
  }

  /** To call the admin API by signed requests, by one method or by all. */
  #call(api: HttpApi | undefined, method: string): PolicyStatement[] {
    if (!api) return []
    const resource = `${api.apiId}/${callsBy(method)}`
    const arn = Stack.of(this).formatArn({ service: 'execute-api', resource, arnFormat: ArnFormat.NO_RESOURCE_NAME })
    return [new PolicyStatement({ actions: ['execute-api:Invoke'], resources: [arn] })]
  }
}

const callsBy = (method: string) => `$default/${method}${ADMIN_PATHS.signed}/*`

function acknowledgedCalls(api: HttpApi, method: string) {
  const id = Stack.of(api).getLogicalId(api.node.defaultChild as CfnElement)
  const arn = `arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${id}>/${callsBy(method)}`
  return {
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::${arn}]`,
    reason: 'Every path of this one API by this method: it has one for each key, request and version.',
  }
}
