import { createHash } from 'node:crypto'
import { type CfnResource, RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Construct } from 'constructs'
import { TABLES, type TableDefinition } from '../../layers/gateway/names.ts'
import { acknowledge } from '../acknowledge.ts'
import { pascal, type Stage } from '../stages.ts'

export type Tables = Readonly<Record<keyof typeof TABLES, TableV2>>

export function addTables(parent: Construct, stage: Stage): Tables {
  const scope = new Construct(parent, 'Tables')
  const table = (name: keyof Tables) => addTable(scope, name, stage)
  const tables = { keys: table('keys'), usage: table('usage'), answers: table('answers') }
  const reason = 'Answers are promised to be kept for a day; point-in-time recovery would keep them for 35.'
  acknowledge(tables.answers, 'DDB3', reason)
  return tables
}

function addTable(scope: Construct, name: keyof typeof TABLES, stage: Stage): TableV2 {
  const { partitionKey, sortKey, indexes, timeToLive }: TableDefinition = TABLES[name]
  const id = pascal(name)
  const tableName = stage.tableNames?.[name]
  const string = (attribute: string) => ({ name: attribute, type: AttributeType.STRING })
  const table = new TableV2(scope, id, {
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
    removalPolicy: stage.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  })
  if (tableName === undefined) return table
  // Another name makes another resource of the template: an existing table is adopted, and the one before stays.
  const hash = createHash('sha256').update(tableName).digest('hex').slice(0, 8).toUpperCase()
  const resource = table.node.defaultChild as CfnResource
  resource.overrideLogicalId(`Tables${id}${hash}`)
  return table
}
