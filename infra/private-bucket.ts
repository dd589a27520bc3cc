import { Duration } from 'aws-cdk-lib'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { removalPolicyOf } from './removal-policy.ts'
import type { Stage } from './stages.ts'

/** A bucket for what AWS writes and nobody publishes, which forgets what is older than these days. */
export function privateBucket(scope: Construct, id: string, stage: Stage, days: number): Bucket {
  return new Bucket(scope, id, {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    lifecycleRules: [{ expiration: Duration.days(days), abortIncompleteMultipartUploadAfter: Duration.days(1) }],
    removalPolicy: removalPolicyOf(stage),
  })
}
