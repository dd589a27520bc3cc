import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { ITEMS, TABLES, type TableRight } from '../layers/gateway/contract.ts'
import type { Tables } from './tables.ts'

const KEYS = `${ITEMS.key}*`
const HASHES = `${ITEMS.hash}*`

/** Rights to the tables, in the smallest pieces that functions need. */
export function tablePermissions({ keys, usage, answers }: Tables): Readonly<Record<TableRight, PolicyStatement>> {
  const onKeys = (actions: string[], leadingKeys?: string[]) =>
    new PolicyStatement({
      actions,
      resources: [keys.tableArn],
      ...(leadingKeys && { conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } } }),
    })
  const onUsage = (action: string) => new PolicyStatement({ actions: [action], resources: [usage.tableArn] })
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
    writeRows: onUsage('dynamodb:PutItem'),
    keepAnswers: new PolicyStatement({
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      resources: [answers.tableArn],
    }),
    readRows: onUsage('dynamodb:GetItem'),
  }
}
