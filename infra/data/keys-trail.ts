import { Aws, Stack } from 'aws-cdk-lib'
import { CfnTrail } from 'aws-cdk-lib/aws-cloudtrail'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { ENV } from '../../layers/gateway/names.ts'
import type { Functions } from '../functions/functions.ts'
import { letUse, OWNED, recordsBucket } from './retention.ts'
import type { Tables } from './tables.ts'

/** Accesses of the functions, at every request, are left out: their events would cost more than the writes. */
export function addKeysTrail(parent: Construct, { keys }: Tables, functions: Functions): void {
  const scope = new Construct(parent, 'KeysTrail')
  const stack = Stack.of(scope)
  const bucket = recordsBucket(scope, 365, 'Whoever reads or deletes in it is recorded by the trail itself.')
  const trailName = `${stack.stackName}-keys`
  const arn = stack.formatArn({ service: 'cloudtrail', resource: 'trail', resourceName: trailName })
  const allow = (action: string, resource: string, also = {}) =>
    letUse(bucket, 'cloudtrail.amazonaws.com', action, resource, { StringEquals: { 'aws:SourceArn': arn, ...also } })
  allow('s3:GetBucketAcl', bucket.bucketArn)
  allow('s3:PutObject', bucket.arnForObjects(`AWSLogs/${Aws.ACCOUNT_ID}/*`), OWNED)
  const trail = new CfnTrail(scope, 'Trail', {
    trailName,
    isLogging: true,
    s3BucketName: bucket.bucketName,
    enableLogFileValidation: true,
    isMultiRegionTrail: false,
    includeGlobalServiceEvents: false,
    advancedEventSelectors: [
      dataOf('AWS::DynamoDB::Table', 'The table of keys, touched by anybody but the functions', [
        { field: 'resources.ARN', equalTo: [keys.tableArn] },
        { field: 'userIdentity.arn', notStartsWith: sessionsOf(functions) },
      ]),
      // Excludes CloudTrail's own writes to the bucket, which would never end.
      dataOf('AWS::S3::Object', 'The records of the trail itself, read or deleted', [
        { field: 'resources.ARN', startsWith: [bucket.arnForObjects('')] },
        { field: 'eventName', notEquals: ['PutObject'] },
      ]),
    ],
  })
  if (bucket.policy) trail.node.addDependency(bucket.policy)
  // It tells whether the trail records.
  functions.close.addEnvironment(ENV.keysTrail, arn)
  functions.close.addToRolePolicy(new PolicyStatement({ actions: ['cloudtrail:GetTrailStatus'], resources: [arn] }))
}

function dataOf(type: string, name: string, where: CfnTrail.AdvancedFieldSelectorProperty[]) {
  const fieldSelectors = [
    { field: 'eventCategory', equalTo: ['Data'] },
    { field: 'resources.type', equalTo: [type] },
    ...where,
  ]
  return { name, fieldSelectors }
}

/** Roles that use the table for callers. Only Lambda can assume them, so nobody hides behind one. The slash ends a name. */
function sessionsOf({ all, tokenizer, admin, probe }: Functions): string[] {
  const roles = all.filter((fn) => ![tokenizer, admin, probe].includes(fn)).flatMap(({ role }) => role ?? [])
  return roles.map((role) => `arn:${Aws.PARTITION}:sts::${Aws.ACCOUNT_ID}:assumed-role/${role.roleName}/`)
}
