import { Stack, Validations } from 'aws-cdk-lib'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { ITEMS, secretName, TABLES } from '../layers/gateway/contract.ts'
import { acknowledgedWildcards, invokeBedrock } from './bedrock.ts'
import { readProviderSecrets } from './functions.ts'
import { readSeedCatalog } from './read-seed-catalog.ts'
import type { Stage } from './stages.ts'
import type { Tables } from './tables.ts'

const KEYS = `${ITEMS.key}*`
const HASHES = `${ITEMS.hash}*`
const EXTERNAL_IDS = `${ITEMS.external}*`
const EVENTS = `${ITEMS.event}*`
const CLAIMS = `${ITEMS.claim}*`

/** Policies for people: what the command line needs on this stage, and no more. Nobody has them until they are attached. */
export class Operators extends Construct {
  /** May do all that the command line does. */
  readonly operator: ManagedPolicy
  /** May look, and change nothing. */
  readonly reader: ManagedPolicy

  constructor(scope: Construct, id: string, { stage, tables }: { stage: Stage; tables: Tables }) {
    super(scope, id)
    const catalog = readSeedCatalog()
    const reading = [this.#findStage(), ...readTables(tables)]
    this.reader = new ManagedPolicy(this, 'WaybillReader', {
      description: `Reads keys, usage and the catalog of the Waybill stage ${stage.name}`,
      statements: reading,
    })
    this.operator = new ManagedPolicy(this, 'WaybillOperator', {
      description: `Operates the Waybill stage ${stage.name}: keys, credits, the catalog, tests of routes`,
      statements: [
        ...reading.map((statement) => statement.copy()),
        ...changeKeysAndCatalog(tables),
        readProviderSecrets(this, stage),
        ...invokeBedrock(catalog),
      ],
    })
    Validations.of(this.operator).acknowledge(
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
}

function readTables({ keys, usage }: Tables): PolicyStatement[] {
  return [
    onItems(
      keys.tableArn,
      ['dynamodb:GetItem'],
      [KEYS, EXTERNAL_IDS, EVENTS, ITEMS.catalog, ITEMS.versions, ITEMS.audit],
    ),
    onItems(keys.tableArn, ['dynamodb:Query'], [KEYS, EVENTS, ITEMS.versions]),
    // Keys are listed by reading all of the table, hashes of secrets too. No secret can be found from its hash.
    new PolicyStatement({ actions: ['dynamodb:Scan'], resources: [keys.tableArn] }),
    new PolicyStatement({ actions: ['dynamodb:GetItem'], resources: [usage.tableArn] }),
    new PolicyStatement({
      actions: ['dynamodb:Query'],
      resources: [`${usage.tableArn}/index/${TABLES.usage.indexes[0].name}`],
    }),
  ]
}

/** No usage row is changed or deleted by anybody, and no key, grant, event or version of the catalog is deleted. */
function changeKeysAndCatalog({ keys }: Tables): PolicyStatement[] {
  return [
    onItems(
      keys.tableArn,
      ['dynamodb:PutItem'],
      [KEYS, HASHES, EXTERNAL_IDS, EVENTS, CLAIMS, ITEMS.versions, ITEMS.audit],
    ),
    onItems(keys.tableArn, ['dynamodb:UpdateItem'], [KEYS, HASHES, ITEMS.catalog]),
    onItems(keys.tableArn, ['dynamodb:DeleteItem'], [HASHES, EXTERNAL_IDS]),
  ]
}

function onItems(table: string, actions: string[], leadingKeys: string[]): PolicyStatement {
  const conditions = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } }
  return new PolicyStatement({ actions, resources: [table], conditions })
}
