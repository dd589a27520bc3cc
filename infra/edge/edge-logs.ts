import { ArnFormat, Stack, Validations } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { privateBucket } from '../data/retention.ts'
import type { Stage } from '../stages.ts'

/**
 * The logged fields of a request. No header, no query and no path: a key that was sent in the wrong place must not end
 * up here. The matched pattern tells the route of a request.
 */
const RECORD_FIELDS = [
  ...['date', 'time', 'x-edge-location', 'c-ip', 'c-port', 'c-country', 'asn', 'cs-method', 'cs-protocol-version'],
  ...['cache-behavior-path-pattern', 'sc-status', 'sc-bytes', 'cs-bytes', 'time-taken', 'time-to-first-byte'],
  ...['x-edge-result-type', 'x-edge-response-result-type', 'x-edge-detailed-result-type', 'x-edge-request-id'],
  ...['ssl-protocol', 'ssl-cipher'],
]

/** CloudFront's standard logs in a bucket. The legacy kind would have every query, and a bucket with ACLs. */
export class EdgeLogs extends Construct {
  constructor(scope: Construct, id: string, { stage, distributionId }: { stage: Stage; distributionId: string }) {
    super(scope, id)
    const bucket = privateBucket(this, 'Bucket', stage.logRetentionDays)
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions::AwsSolutions-S1',
      reason:
        'It holds logs itself. CloudFront’s delivery alone writes to it, and whoever reads it needs rights of IAM.',
    })
    // The stack's name has the region of its stage, if that is another one.
    const name = `${Stack.of(this).stackName}-edge`
    const source = new CfnDeliverySource(this, 'Source', {
      name,
      logType: 'ACCESS_LOGS',
      resourceArn: Stack.of(this).formatArn({
        service: 'cloudfront',
        region: '',
        resource: 'distribution',
        resourceName: distributionId,
      }),
    })
    const destination = new CfnDeliveryDestination(this, 'Destination', {
      name,
      destinationResourceArn: bucket.bucketArn,
      outputFormat: 'json',
    })
    const delivery = new CfnDelivery(this, 'Delivery', {
      deliverySourceName: source.name,
      deliveryDestinationArn: destination.attrArn,
      recordFields: RECORD_FIELDS,
      s3SuffixPath: '{yyyy}/{MM}/{dd}',
    })
    delivery.addResourceDependency(source)
    this.#letDeliver(bucket, name)
    // Otherwise the delivery would replace this policy by one of its own.
    if (bucket.policy) delivery.node.addDependency(bucket.policy)
  }

  #letDeliver(bucket: Bucket, source: string): void {
    const stack = Stack.of(this)
    const from = { service: 'logs', resource: 'delivery-source', resourceName: source }
    bucket.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('delivery.logs.amazonaws.com')],
        actions: ['s3:PutObject'],
        resources: [bucket.arnForObjects(`AWSLogs/${stack.account}/*`)],
        conditions: {
          StringEquals: { 'aws:SourceAccount': stack.account, 's3:x-amz-acl': 'bucket-owner-full-control' },
          ArnLike: { 'aws:SourceArn': stack.formatArn({ ...from, arnFormat: ArnFormat.COLON_RESOURCE_NAME }) },
        },
      }),
    )
  }
}
