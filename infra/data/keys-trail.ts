import { Aws, Stack, Validations } from 'aws-cdk-lib'
import { CfnTrail } from 'aws-cdk-lib/aws-cloudtrail'
import { type IRole, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import type { Functions } from '../functions/functions.ts'
import { privateBucket } from './retention.ts'
import type { Tables } from './tables.ts'

type Props = { readonly tables: Tables; readonly functions: Functions }
type Selector = CfnTrail.AdvancedEventSelectorProperty

const KEPT_DAYS = 365

/**
 * Records accesses to the table of keys by operators and intruders. The functions write to it for every request, and
 * the usage rows prove that; their events would cost more than the writes.
 */
export class KeysTrail extends Construct {
  constructor(scope: Construct, id: string, { tables, functions }: Props) {
    super(scope, id)
    const stack = Stack.of(this)
    const bucket = privateBucket(this, 'Bucket', KEPT_DAYS)
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions::AwsSolutions-S1',
      reason: 'Whoever reads or deletes in it is recorded by the trail itself.',
    })
    const trailName = `${stack.stackName}-keys`
    letDeliver(bucket, stack.formatArn({ service: 'cloudtrail', resource: 'trail', resourceName: trailName }))
    const trail = new CfnTrail(this, 'Trail', {
      trailName,
      isLogging: true,
      s3BucketName: bucket.bucketName,
      enableLogFileValidation: true,
      isMultiRegionTrail: false,
      includeGlobalServiceEvents: false,
      advancedEventSelectors: [ofKeys(tables, rolesOf(functions)), ofTheTrail(bucket)],
    })
    if (bucket.policy) trail.node.addDependency(bucket.policy)
  }
}

/** The roles that use the table for callers. Tokenizer and probe have no business there, and the admin API does operators' work. */
function rolesOf({ all, tokenizer, admin, probe }: Functions): IRole[] {
  const recorded = [tokenizer, admin, probe]
  return all.filter((fn) => !recorded.includes(fn)).flatMap(({ role }) => role ?? [])
}

function ofKeys({ keys }: Tables, roles: readonly IRole[]): Selector {
  // Only Lambda can assume these roles, so no person can hide behind one; the slash ends the role's name.
  const sessions = roles.map((role) => `arn:${Aws.PARTITION}:sts::${Aws.ACCOUNT_ID}:assumed-role/${role.roleName}/`)
  return {
    name: 'The table of keys, touched by anybody but the functions',
    fieldSelectors: [
      ...dataOf('AWS::DynamoDB::Table'),
      { field: 'resources.ARN', equalTo: [keys.tableArn] },
      { field: 'userIdentity.arn', notStartsWith: sessions },
    ],
  }
}

/** Excludes CloudTrail's own writes to the bucket, which would never end. */
function ofTheTrail(bucket: Bucket): Selector {
  return {
    name: 'The records of the trail itself, read or deleted',
    fieldSelectors: [
      ...dataOf('AWS::S3::Object'),
      { field: 'resources.ARN', startsWith: [bucket.arnForObjects('')] },
      { field: 'eventName', notEquals: ['PutObject'] },
    ],
  }
}

function dataOf(type: string) {
  return [
    { field: 'eventCategory', equalTo: ['Data'] },
    { field: 'resources.type', equalTo: [type] },
  ]
}

function letDeliver(bucket: Bucket, trailArn: string): void {
  const principals = [new ServicePrincipal('cloudtrail.amazonaws.com')]
  const fromTrail = { 'aws:SourceArn': trailArn }
  bucket.addToResourcePolicy(
    new PolicyStatement({
      principals,
      actions: ['s3:GetBucketAcl'],
      resources: [bucket.bucketArn],
      conditions: { StringEquals: fromTrail },
    }),
  )
  bucket.addToResourcePolicy(
    new PolicyStatement({
      principals,
      actions: ['s3:PutObject'],
      resources: [bucket.arnForObjects(`AWSLogs/${Aws.ACCOUNT_ID}/*`)],
      conditions: { StringEquals: { ...fromTrail, 's3:x-amz-acl': 'bucket-owner-full-control' } },
    }),
  )
}
