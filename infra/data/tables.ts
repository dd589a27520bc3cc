import { createHash } from 'node:crypto'
import type { CfnResource } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Construct } from 'constructs'
import { TABLES, type TableDefinition } from '../../layers/gateway/names.ts'
import { acknowledge } from '../acknowledge.ts'
import type { Stage } from '../stages.ts'
import { removalPolicyOf } from './retention.ts'

export class Tables extends Construct {
  readonly keys: TableV2
  readonly usage: TableV2
  readonly answers: TableV2

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id)
    this.keys = this.#table('keys', stage)
    this.usage = this.#table('usage', stage)
    this.answers = this.#table('answers', stage)
    const reason = 'Answers are promised to be kept for a day; point-in-time recovery would keep them for 35.'
    acknowledge(this.answers, 'DDB3', reason)
  }

  #table(name: keyof typeof TABLES, stage: Stage): TableV2 {
    const { partitionKey, sortKey, indexes, timeToLive }: TableDefinition = TABLES[name]
    const id = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
    const tableName = stage.tableNames?.[name]
    const string = (attribute: string) => ({ name: attribute, type: AttributeType.STRING })
    const table = new TableV2(this, id, {
      ...(tableName !== undefined && { tableName }),
      partitionKey: string(partitionKey),
      ...(sortKey !== undefined && { sortKey: string(sortKey) }),
      globalSecondaryIndexes: indexes.map((index) => ({
        indexName: index.name,
        partitionKey: string(index.partitionKey),
        sortKey: string(index.sortKey),
        projectionType: index.projection === 'all' ? ProjectionType.ALL : ProjectionType.KEYS_ONLY,
      })),
      timeToLiveAttribute: timeToLive,
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: name !== 'answers' },
      deletionProtection: stage.deletionProtection,
      removalPolicy: removalPolicyOf(stage),
    })
    if (tableName === undefined) return table
    // With another name it is another resource of the template, so that an existing table is adopted and the one before
    // is left as it is.
    const hash = createHash('sha256').update(tableName).digest('hex').slice(0, 8).toUpperCase()
    const resource = table.node.defaultChild as CfnResource
    resource.overrideLogicalId(`Tables${id}${hash}`)
    return table
  }
}
