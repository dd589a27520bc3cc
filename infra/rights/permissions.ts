import { ArnFormat, Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { TableRight } from '../../layers/gateway/endpoints.ts'
import { ITEMS, PROBE_SECRET, secretName, TABLES, USAGE_ITEMS } from '../../layers/gateway/names.ts'
import type { Tables } from '../data/tables.ts'
import type { Stage } from '../stages.ts'
import { wildcard } from './wildcard.ts'

const KEYS = `${ITEMS.key}*`
const HASHES = `${ITEMS.hash}*`
const ROWS = `${USAGE_ITEMS.row}*`
const DAYS = `${USAGE_ITEMS.day}*`

const EXTERNAL_IDS = `${ITEMS.external}*`
const REFERENCES = `${ITEMS.reference}*`
const EVENTS = `${ITEMS.event}*`
const CLAIMS = `${ITEMS.claim}*`
const ADMIN_KEYS = `${ITEMS.adminKey}*`
const ADMIN_HASHES = `${ITEMS.adminHash}*`
const ADMIN_GRANTS = `${ITEMS.adminGrants}*`

/** Reads of the admin API. */
export function readTables({ keys, usage }: Tables): PolicyStatement[] {
  return [
    onItems(
      keys.tableArn,
      ['dynamodb:GetItem'],
      [KEYS, ADMIN_KEYS, EXTERNAL_IDS, REFERENCES, EVENTS, ITEMS.catalog, ITEMS.versions, ITEMS.audit],
    ),
    onItems(keys.tableArn, ['dynamodb:Query'], [KEYS, REFERENCES, EVENTS, ITEMS.versions]),
    // The keys and admin keys whose items have events that are not moved yet.
    findInSweepIndex(keys),
    ...listNewestKeys(keys),
    // An audit scans the table, with the hashes of secrets. No secret can be found from its hash.
    new PolicyStatement({ actions: ['dynamodb:Scan'], resources: [keys.tableArn] }),
    new PolicyStatement({ actions: ['dynamodb:GetItem', 'dynamodb:Query'], resources: [usage.tableArn] }),
    findRowsOfKeys(usage),
  ]
}

/** The settings of the tables that a restore does not bring back. */
export function describeTables({ keys, usage, answers }: Tables): PolicyStatement {
  return new PolicyStatement({
    actions: ['dynamodb:DescribeTable', 'dynamodb:DescribeTimeToLive', 'dynamodb:DescribeContinuousBackups'],
    resources: [keys, usage, answers].map(({ tableArn }) => tableArn),
  })
}

/** Usage rows can be neither changed nor deleted, and no key, grant, event or version of the catalog can be deleted. */
export function changeKeysAndCatalog({ keys }: Tables): PolicyStatement[] {
  return [
    onItems(
      keys.tableArn,
      ['dynamodb:PutItem'],
      [KEYS, HASHES, EXTERNAL_IDS, REFERENCES, EVENTS, CLAIMS, ITEMS.versions, ITEMS.audit],
    ),
    onItems(keys.tableArn, ['dynamodb:UpdateItem'], [KEYS, HASHES, ITEMS.catalog]),
    onItems(keys.tableArn, ['dynamodb:DeleteItem'], [HASHES, EXTERNAL_IDS]),
  ]
}

/** To make, rotate and revoke admin keys, and to see what they granted. None is deleted. */
export function changeAdminKeys({ keys }: Tables): PolicyStatement[] {
  return [
    onItems(keys.tableArn, ['dynamodb:GetItem'], [ADMIN_KEYS, ADMIN_GRANTS]),
    onItems(keys.tableArn, ['dynamodb:PutItem', 'dynamodb:UpdateItem'], [ADMIN_KEYS, ADMIN_HASHES]),
    onItems(keys.tableArn, ['dynamodb:DeleteItem'], [ADMIN_HASHES]),
  ]
}

/** To recognise an admin key by its secret, and to count its grants. */
export function takeAdminKeys({ keys }: Tables): PolicyStatement[] {
  return [
    onItems(keys.tableArn, ['dynamodb:GetItem'], [ADMIN_HASHES]),
    onItems(keys.tableArn, ['dynamodb:ConditionCheckItem'], [ADMIN_KEYS]),
    onItems(keys.tableArn, ['dynamodb:UpdateItem'], [ADMIN_GRANTS]),
  ]
}

function findInSweepIndex({ tableArn }: Tables['keys']): PolicyStatement {
  return new PolicyStatement({
    actions: ['dynamodb:Query'],
    resources: [`${tableArn}/index/${TABLES.keys.indexes[0].name}`],
  })
}

function listNewestKeys({ tableArn }: Tables['keys']): PolicyStatement[] {
  return [
    new PolicyStatement({
      actions: ['dynamodb:Query'],
      resources: [`${tableArn}/index/${TABLES.keys.indexes[1].name}`],
    }),
    onItems(tableArn, ['dynamodb:BatchGetItem'], [KEYS]),
  ]
}

function findRowsOfKeys({ tableArn }: Tables['usage']): PolicyStatement {
  return new PolicyStatement({
    actions: ['dynamodb:Query'],
    resources: [`${tableArn}/index/${TABLES.usage.indexes[0].name}`],
  })
}

function onItems(table: string, actions: string[], leadingKeys: string[]): PolicyStatement {
  const conditions = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } }
  return new PolicyStatement({ actions, resources: [table], conditions })
}

/**
 * For on-call, if the admin API cannot answer: to suspend a key. IAM knows the attributes of a write, and not their
 * values. Nothing but the status is written or read.
 */
export function suspendKeys({ keys }: Tables): PolicyStatement {
  return new PolicyStatement({
    actions: ['dynamodb:UpdateItem'],
    resources: [keys.tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [KEYS] },
      'ForAllValues:StringEquals': {
        'dynamodb:Attributes': [TABLES.keys.partitionKey, TABLES.keys.sortKey, 'status'],
      },
      StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
    },
  })
}

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
    readKeysAndCatalog: onKeys(['dynamodb:GetItem'], [KEYS, HASHES, ITEMS.catalog]),
    /** Admission and settlement. Cannot make a key, or change a hash or the catalog. */
    admitAndSettle: onKeys(['dynamodb:UpdateItem'], [KEYS]),
    findKeysToSweep: findInSweepIndex(keys),
    /** The events of changes that were made. */
    putEvents: onKeys(['dynamodb:PutItem'], [EVENTS]),
    deletePointers: onKeys(['dynamodb:DeleteItem'], [HASHES, EXTERNAL_IDS]),
    /** Rows, and no total of a day. */
    writeRows: onUsage(['dynamodb:PutItem'], ROWS),
    keepAnswers: new PolicyStatement({
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      resources: [answers.tableArn],
    }),
    readRows: onUsage(['dynamodb:GetItem'], ROWS),
    /** By a scan of the table, with the hashes of secrets. No secret can be found from its hash. */
    listKeys: onKeys(['dynamodb:Scan']),
    readRowsOfKeys: findRowsOfKeys(usage),
    readRowsOfDays: onUsage(['dynamodb:Query'], ROWS),
    /** Totals of days, one by one. */
    readDays: onUsage(['dynamodb:GetItem'], DAYS),
    /** Totals of days, and no row. */
    keepDays: onUsage(['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], DAYS),
  }
}

/** To keep rows from expiring while their days are not exported. */
export function switchExpiry({ usage }: Tables): PolicyStatement {
  return new PolicyStatement({ actions: ['dynamodb:UpdateTimeToLive'], resources: [usage.tableArn] })
}

/** CDK's own grant would also allow its versions. */
export function invokeFunction({ functionArn }: IFunction): PolicyStatement {
  return new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] })
}

/** A secret's ARN ends in six random characters. */
export function readProviderSecrets(scope: Construct, stage: Stage): PolicyStatement {
  return readSecret(providerSecrets(scope, stage))
}

/** The wildcard of that right, as cdk-nag names it. */
export function acknowledgedSecrets(scope: Construct, stage: Stage): string {
  return wildcard(scope, providerSecrets(scope, stage))
}

/** One secret, which need not exist yet ("Limiting access to specific secrets" in the guide of Secrets Manager). */
export function readProbeSecret(scope: Construct, stage: Stage): PolicyStatement {
  return readSecret(secretArn(scope, `${secretName(stage.name, PROBE_SECRET)}-??????`))
}

const providerSecrets = (scope: Construct, { name }: Stage) => secretArn(scope, secretName(name, '*'))

function readSecret(arn: string): PolicyStatement {
  return new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [arn] })
}

function secretArn(scope: Construct, resourceName: string): string {
  return Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
}
