import { ArnFormat, Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { ITEMS, NOTICE_LOG, secretName, TABLES, USAGE_ITEMS } from '../../layers/gateway/names.ts'
import type { Tables } from '../data/tables.ts'
import type { Stage } from '../stages.ts'

const { key, hash, external, reference, event, claim, catalog, versions, audit } = ITEMS
const { adminKey, adminHash, adminGrants } = ITEMS
const { row, day } = USAGE_ITEMS
const [bySweep, byCreation] = TABLES.keys.indexes
const [byKey] = TABLES.usage.indexes

/** Operations on a table, on its index, or only on items whose keys are, or begin with, these. */
type Right = {
  readonly table: keyof typeof TABLES | 'all'
  readonly operations: string
  readonly index?: string
  readonly items?: readonly string[]
}

const onKeys = (operations: string, ...items: string[]): Right => ({ table: 'keys', operations, items })
const onUsage = (operations: string, ...items: string[]): Right => ({ table: 'usage', operations, items })
const inKeys = ({ name: index }: { name: string }): Right => ({ table: 'keys', operations: 'Query', index })
const inUsage = ({ name: index }: { name: string }): Right => ({ table: 'usage', operations: 'Query', index })

const RIGHTS = {
  /** The catalog's item tells the schema of the tables. */
  readKeyItems: [onKeys('GetItem', key, catalog), onKeys('BatchGetItem', key)],
  readKeysAndCatalog: [onKeys('GetItem', key, hash, catalog), onKeys('BatchGetItem', key)],
  /** Admission and settlement. Cannot make a key, or change a hash or the catalog. */
  admitAndSettle: [onKeys('UpdateItem', key)],
  findKeysToSweep: [inKeys(bySweep)],
  putEvents: [onKeys('GetItem PutItem', event)],
  deletePointers: [onKeys('DeleteItem', hash, external)],
  noteDeliveries: [onKeys('UpdateItem', NOTICE_LOG)],
  /** Rows, and no total of a day. */
  writeRows: [onUsage('PutItem', row)],
  keepAnswers: [{ table: 'answers', operations: 'GetItem PutItem UpdateItem DeleteItem' }],
  readRows: [onUsage('GetItem', row)],
  /** A scan reads the whole table, with the hashes of secrets. No secret can be found from its hash. */
  listKeys: [onKeys('Scan'), onKeys('GetItem', key, catalog)],
  readRowsOfKeys: [inUsage(byKey)],
  readRowsOfDays: [onUsage('Query', row)],
  readDays: [onUsage('GetItem', day)],
  /** Totals of days, and no row. */
  keepDays: [onUsage('GetItem Query PutItem UpdateItem', day)],
  /** To publish statements, which are beside the totals. */
  readOwners: [inKeys(byCreation), onKeys('BatchGetItem Query', key), onUsage('BatchGetItem', day)],
  /** To keep rows from expiring while their days are not exported. */
  switchExpiry: [onUsage('UpdateTimeToLive')],
  /** The settings of the tables that a restore does not bring back. */
  describeTables: [{ table: 'all', operations: 'DescribeTable DescribeTimeToLive DescribeContinuousBackups' }],
  readForOperators: [
    onKeys('GetItem', key, adminKey, external, reference, event, catalog, versions, audit),
    onKeys('Query', key, reference, event, versions, NOTICE_LOG),
    // The keys and admin keys whose items have events that are not moved yet.
    inKeys(bySweep),
    inKeys(byCreation),
    onKeys('BatchGetItem', key),
    // An audit scans the table.
    onKeys('Scan'),
    onUsage('GetItem Query BatchGetItem'),
    inUsage(byKey),
  ],
  /** Usage rows can be neither changed nor deleted, and no key, grant, event or version of the catalog can be deleted. */
  changeKeysAndCatalog: [
    onKeys('PutItem', key, hash, external, reference, event, claim, versions, audit),
    onKeys('UpdateItem', key, hash, catalog),
    onKeys('DeleteItem', hash, external),
  ],
  changeAdminKeys: [
    onKeys('GetItem', adminKey, adminGrants),
    onKeys('BatchGetItem', adminKey),
    onKeys('PutItem UpdateItem', adminKey, adminHash),
    onKeys('DeleteItem', adminHash),
  ],
  /** To recognise an admin key by its secret, and to count its grants. */
  takeAdminKeys: [
    onKeys('GetItem', adminHash),
    onKeys('ConditionCheckItem', adminKey),
    onKeys('UpdateItem', adminGrants),
  ],
} satisfies Record<string, readonly Right[]>

export function tableRights(tables: Tables, ...names: (keyof typeof RIGHTS)[]): PolicyStatement[] {
  const rights: readonly Right[] = names.flatMap((name) => RIGHTS[name])
  return rights.map(({ table, operations, index, items = [] }) => {
    const { keys, usage, answers } = tables
    const named = table === 'all' ? [keys, usage, answers] : [tables[table]]
    return new PolicyStatement({
      actions: operations.split(' ').map((operation) => `dynamodb:${operation}`),
      resources: named.map(({ tableArn }) => (index === undefined ? tableArn : `${tableArn}/index/${index}`)),
      ...(items.length > 0 && { conditions: onlyItems(items) }),
    })
  })
}

function onlyItems(items: readonly string[]) {
  const leadingKeys = items.map((item) => (item.endsWith('#') ? `${item}*` : item))
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } }
}

/** On-call may suspend a key. IAM knows the attributes of a write, not their values: only the status is written. */
export function suspendKeys({ keys }: Tables): PolicyStatement {
  const { partitionKey, sortKey } = TABLES.keys
  return new PolicyStatement({
    actions: ['dynamodb:UpdateItem'],
    resources: [keys.tableArn],
    conditions: {
      ...onlyItems([key]),
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': [partitionKey, sortKey, 'status'] },
      StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
    },
  })
}

/** CDK's own grant would also allow its versions. */
export function invokeFunction({ functionArn }: IFunction): PolicyStatement {
  return new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] })
}

export function readSecret(arn: string): PolicyStatement {
  return new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [arn] })
}

/** A secret of the stage, which need not exist yet ("Limiting access to specific secrets" in the guide of Secrets Manager). */
export function secretArn(scope: Construct, { name: stage }: Stage, name: string): string {
  return arnOf(scope, 'secretsmanager', 'secret', secretName(stage, name))
}

export function arnOf(scope: Construct, service: string, resource: string, resourceName: string, region?: string) {
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME
  return Stack.of(scope).formatArn({ service, resource, resourceName, arnFormat, ...(region && { region }) })
}
