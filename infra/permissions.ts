import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { ITEMS, TABLES, type TableRight, USAGE_ITEMS } from '../layers/gateway/contract.ts'
import type { Tables } from './tables.ts'

const KEYS = `${ITEMS.key}*`
const HASHES = `${ITEMS.hash}*`
const ROWS = `${USAGE_ITEMS.row}*`
const DAYS = `${USAGE_ITEMS.day}*`

/** Rights to the tables, in the smallest pieces that functions need. */
export function tablePermissions({ keys, usage, answers }: Tables): Readonly<Record<TableRight, PolicyStatement>> {
  const onKeys = (actions: string[], leadingKeys?: string[]) =>
    new PolicyStatement({
      actions,
      resources: [keys.tableArn],
      ...(leadingKeys && { conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } } }),
    })
  const onUsage = (actions: string[], leadingKey: string) =>
    new PolicyStatement({
      actions,
      resources: [usage.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [leadingKey] } },
    })
  return {
    readKeyItems: onKeys(['dynamodb:GetItem'], [KEYS]),
    readKeys: onKeys(['dynamodb:GetItem'], [KEYS, HASHES]),
    readKeysAndCatalog: onKeys(['dynamodb:GetItem'], [KEYS, HASHES, ITEMS.catalog]),
    /** Admission and settlement. Neither makes a key nor touches a hash or the catalog. */
    admitAndSettle: onKeys(['dynamodb:UpdateItem'], [KEYS]),
    findKeysToSweep: new PolicyStatement({
      actions: ['dynamodb:Query'],
      resources: [`${keys.tableArn}/index/${TABLES.keys.indexes[0].name}`],
    }),
    /** Rows, and no total of a day. */
    writeRows: onUsage(['dynamodb:PutItem'], ROWS),
    keepAnswers: new PolicyStatement({
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      resources: [answers.tableArn],
    }),
    readRows: onUsage(['dynamodb:GetItem'], ROWS),
    /** By reading all of the table, hashes of secrets too. No secret can be found from its hash. */
    listKeys: onKeys(['dynamodb:Scan']),
    readRowsOfKeys: new PolicyStatement({
      actions: ['dynamodb:Query'],
      resources: [`${usage.tableArn}/index/${TABLES.usage.indexes[0].name}`],
    }),
    /** Totals of days, and no row. */
    keepDays: onUsage(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], DAYS),
  }
}
