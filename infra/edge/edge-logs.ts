import { Stack } from 'aws-cdk-lib'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { letUse, OWNED, recordsBucket } from '../data/retention.ts'
import { LIMITS } from '../limits.ts'
import { arnOf } from '../rights/permissions.ts'
import type { Stage } from '../stages.ts'

/** No header, no query and no path: a key that was sent in the wrong place must not end up here. */
const RECORD_FIELDS = [
  ...['date', 'time', 'x-edge-location', 'c-ip', 'c-port', 'c-country', 'asn', 'cs-method', 'cs-protocol-version'],
  ...['cache-behavior-path-pattern', 'sc-status', 'sc-bytes', 'cs-bytes', 'time-taken', 'time-to-first-byte'],
  ...['x-edge-result-type', 'x-edge-response-result-type', 'x-edge-detailed-result-type', 'x-edge-request-id'],
  ...['ssl-protocol', 'ssl-cipher'],
]

const WITHOUT_LOGS =
  'It holds logs itself. CloudFront’s delivery alone writes to it, and whoever reads it needs rights of IAM.'

/** CloudFront's standard logs in a bucket. The legacy kind would have every query, and a bucket with ACLs. */
export function addEdgeLogs(parent: Construct, stage: Stage, distributionId: string): void {
  const scope = new Construct(parent, 'EdgeLogs')
  const stack = Stack.of(scope)
  const bucket = recordsBucket(scope, stage.logRetentionDays, WITHOUT_LOGS)
  // The stack's name has the region of its stage, if that is another one; of a long name the end is taken.
  const name = `${stack.stackName.slice('-edge'.length - LIMITS.charactersOfDelivery)}-edge`
  const distribution = { service: 'cloudfront', region: '', resource: 'distribution', resourceName: distributionId }
  const resourceArn = stack.formatArn(distribution)
  const source = new CfnDeliverySource(scope, 'Source', { name, logType: 'ACCESS_LOGS', resourceArn })
  const destination = new CfnDeliveryDestination(scope, 'Destination', {
    name,
    destinationResourceArn: bucket.bucketArn,
    outputFormat: 'json',
  })
  const delivery = new CfnDelivery(scope, 'Delivery', {
    deliverySourceName: source.name,
    deliveryDestinationArn: destination.attrArn,
    recordFields: RECORD_FIELDS,
    s3SuffixPath: '{yyyy}/{MM}/{dd}',
  })
  delivery.addResourceDependency(source)
  letUse(bucket, 'delivery.logs.amazonaws.com', 's3:PutObject', bucket.arnForObjects(`AWSLogs/${stack.account}/*`), {
    StringEquals: { 'aws:SourceAccount': stack.account, ...OWNED },
    ArnLike: { 'aws:SourceArn': arnOf(scope, 'logs', 'delivery-source', name) },
  })
  // Otherwise the delivery would replace scope policy by one of its own.
  if (bucket.policy) delivery.node.addDependency(bucket.policy)
}
