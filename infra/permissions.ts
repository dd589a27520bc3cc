import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { TABLES } from '../layers/gateway/contract.ts'
import type { Tables } from './tables.ts'

/** What may be done to the tables, in the smallest pieces that functions need. */
export function tablePermissions({ keys, usage, answers }: Tables) {
  const onKeys = (actions: string[], leadingKeys?: string[]) =>
    new PolicyStatement({
      actions,
      resources: [keys.tableArn],
      ...(leadingKeys && { conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } } }),
    })
  const onUsage = (action: string) => new PolicyStatement({ actions: [action], resources: [usage.tableArn] })
  return {
    readKeyItems: onKeys(['dynamodb:GetItem'], ['KEY#*']),
    readKeys: onKeys(['dynamodb:GetItem'], ['KEY#*', 'HASH#*']),
    readKeysAndCatalog: onKeys(['dynamodb:GetItem'], ['KEY#*', 'HASH#*', 'CATALOG']),
    /** Admission and settlement. Neither makes a key nor touches a hash or the catalog. */
    admitAndSettle: onKeys(['dynamodb:UpdateItem'], ['KEY#*']),
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
