import { createHash } from 'node:crypto'
import { type CfnResource, Validations } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Construct } from 'constructs'
import { TABLES, type TableDefinition } from '../../layers/gateway/names.ts'
import type { Stage } from '../stages.ts'
import { removalPolicyOf } from './retention.ts'

/** The three tables, from the definitions that the local ones are made from. */
export class Tables extends Construct {
  readonly keys: TableV2
  readonly usage: TableV2
  readonly answers: TableV2

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id)
    this.keys = this.#table('Keys', TABLES.keys, stage, stage.tableNames?.keys)
    this.usage = this.#table('Usage', TABLES.usage, stage, stage.tableNames?.usage)
    this.answers = this.#table('Answers', TABLES.answers, stage, stage.tableNames?.answers, false)
    Validations.of(this.answers).acknowledge({
      id: 'AwsSolutions::AwsSolutions-DDB3',
      reason: 'Answers are promised to be kept for a day; point-in-time recovery would keep them for 35.',
    })
  }

  /**
   * Without a name CloudFormation gives it one. With another name it is another resource of the template, so that an
   * existing table is adopted and the one before is left as it is.
   */
  #table(
    id: string,
    definition: TableDefinition,
    stage: Stage,
    tableName: string | undefined,
    restorable = true,
  ): TableV2 {
    const string = (name: string) => ({ name, type: AttributeType.STRING })
    const table = new TableV2(this, id, {
      ...(tableName !== undefined && { tableName }),
      partitionKey: string(definition.partitionKey),
      ...(definition.sortKey !== undefined && { sortKey: string(definition.sortKey) }),
      globalSecondaryIndexes: definition.indexes.map((index) => ({
        indexName: index.name,
        partitionKey: string(index.partitionKey),
        sortKey: string(index.sortKey),
        projectionType: index.projection === 'all' ? ProjectionType.ALL : ProjectionType.KEYS_ONLY,
      })),
      timeToLiveAttribute: definition.timeToLive,
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: restorable },
      deletionProtection: stage.deletionProtection,
      removalPolicy: removalPolicyOf(stage),
    })
    if (tableName !== undefined) {
      const resource = table.node.defaultChild as CfnResource
      resource.overrideLogicalId(
        `Tables${id}${createHash('sha256').update(tableName).digest('hex').slice(0, 8).toUpperCase()}`,
      )
    }
    return table
  }
}
