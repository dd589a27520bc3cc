import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { acknowledge } from '../acknowledge.ts'
import type { Stage } from '../stages.ts'

/** A bucket that only AWS writes to, not public, which deletes objects after this number of days. */
export function recordsBucket(scope: Construct, days: number, withoutLogs: string): Bucket {
  const bucket = new Bucket(scope, 'Bucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    lifecycleRules: [{ expiration: Duration.days(days), abortIncompleteMultipartUploadAfter: Duration.days(1) }],
    // This holds for every stage: CloudFormation cannot delete a bucket with content, and this one empties itself.
    removalPolicy: RemovalPolicy.RETAIN,
  })
  acknowledge(bucket, 'S1', withoutLogs)
  return bucket
}

export function letUse(bucket: Bucket, service: string, action: string, resource: string, conditions: object): void {
  const principals = [new ServicePrincipal(service)]
  bucket.addToResourcePolicy(
    new PolicyStatement({ principals, actions: [action], resources: [resource], conditions: { ...conditions } }),
  )
}

/** The owner of the bucket owns what the service writes. */
export const OWNED = { 's3:x-amz-acl': 'bucket-owner-full-control' }

/** A log that deletes old entries. One with a name is adopted by the next stack if it outlived its own. */
export function addLogs(scope: Construct, id: string, stage: Stage, logGroupName?: string): LogGroup {
  // A log that a failed first deployment left behind would stop the next one by its name.
  const kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
  const [retention, removalPolicy] = [stage.logRetentionDays, stage.keepsData ? kept : RemovalPolicy.DESTROY]
  return new LogGroup(scope, id, { ...(logGroupName && { logGroupName }), retention, removalPolicy })
}
