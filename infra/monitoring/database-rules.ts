import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { TABLES, type TableDefinition } from '../../layers/gateway/names.ts'
import type { Tables } from '../data/tables.ts'
import { IN_FIVE_MINUTES, sumOf } from './metrics.ts'
import type { Rule, Rules } from './rule.ts'

export function databaseRules(tables: Tables): Rules {
  return {
    KeysThrottles: throttlesOf('keys', tables.keys),
    UsageThrottles: throttlesOf('usage', tables.usage),
    AnswersThrottles: throttlesOf('answers', tables.answers),
    DatabaseErrors: databaseErrors(tables),
  }
}

/** The throttles of every operation: the table's own events leave out those of its indexes. */
function throttlesOf(name: keyof typeof TABLES, { tableName: TableName }: TableV2): Rule {
  const { indexes }: TableDefinition = TABLES[name]
  const places = [{ TableName }, ...indexes.map((index) => ({ TableName, GlobalSecondaryIndexName: index.name }))]
  const events = places.flatMap((dimensionsMap) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
      (metricName) => new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, ...IN_FIVE_MINUTES }),
    ),
  )
  return {
    says: `DynamoDB throttles the table of ${name}`,
    remedy: 'One key above 1,000 writes a second: `usage summary --by key`; spread its load over several keys.',
    metric: sumOf(events),
    from: 10,
    periods: 2,
  }
}

/** The operations by which requests use the tables. */
const REQUESTED: Readonly<Record<keyof typeof TABLES, readonly string[]>> = {
  keys: ['GetItem', 'UpdateItem'],
  usage: ['GetItem', 'PutItem'],
  answers: ['GetItem', 'PutItem', 'UpdateItem'],
}

/** DynamoDB counts its 5xx by table and operation, and has no sum of them ("DynamoDB Metrics and dimensions" in its guide). */
function databaseErrors(tables: Tables): Rule {
  const errors = Object.entries(REQUESTED).flatMap(([name, operations]) => {
    const { tableName: TableName } = tables[name as keyof typeof REQUESTED]
    return operations.map(
      (Operation) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName: 'SystemErrors',
          dimensionsMap: { TableName, Operation },
          ...IN_FIVE_MINUTES,
        }),
    )
  })
  return {
    says: 'DynamoDB answers with errors of its own',
    remedy: 'AWS Health; requests are tried again, and `audit` finds what was left.',
    metric: sumOf(errors),
    from: 10,
    periods: 2,
  }
}
