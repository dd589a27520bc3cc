import { marshall } from '@aws-sdk/util-dynamodb'
import { Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources'
import { Construct } from 'constructs'
import { CATALOG_ITEM, SCHEMA_VERSION, SEEDED } from '../../layers/gateway/names.ts'
import { acknowledge } from '../acknowledge.ts'
import { beyondLimit, LIMITS } from '../limits.ts'
import type { Seed } from '../settings.ts'
import type { Stage } from '../stages.ts'
import { addLogs } from './retention.ts'
import type { Tables } from './tables.ts'

/** The first deployment puts the seed in force. From then on only `waybill catalog push` changes it. */
export function addCatalogSeed(parent: Construct, { keys }: Tables, stage: Stage, seed: Seed): void {
  const scope = new Construct(parent, 'Catalog')
  const item = { ...CATALOG_ITEM, ...seed, version: 1, pushedAt: SEEDED, schemaVersion: SCHEMA_VERSION }
  const Item = marshall(item, { removeUndefinedValues: true })
  // The call is a text in the event of CDK's function.
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(Item)))
  if (bytes > LIMITS.bytesOfSeed) {
    const advice = "Begin with a smaller catalog, and put the whole one in force with 'catalog push'."
    const what = 'Bytes of the first catalog, as the stack hands it on'
    throw new Error(beyondLimit(what, bytes, LIMITS.bytesOfSeed, advice))
  }
  new AwsCustomResource(scope, 'Seed', {
    resourceType: 'Custom::WaybillCatalogSeed',
    installLatestAwsSdk: false,
    logGroup: addLogs(scope, 'SeedLogs', stage),
    onCreate: {
      service: 'DynamoDB',
      action: 'putItem',
      physicalResourceId: PhysicalResourceId.of('waybill-catalog-seed'),
      // An older catalog in an adopted table wins.
      ignoreErrorCodesMatching: 'ConditionalCheckFailedException',
      parameters: { TableName: keys.tableName, Item, ConditionExpression: 'attribute_not_exists(pk)' },
    },
    policy: AwsCustomResourcePolicy.fromStatements([
      new PolicyStatement({
        actions: ['dynamodb:PutItem'],
        resources: [keys.tableArn],
        conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [CATALOG_ITEM.pk] } },
      }),
    ]),
  })
  // The function that CDK makes for such calls; there is one in a stack.
  const provider = Stack.of(scope).node.findChild(`AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`)
  const policy = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole'
  const reason = 'CDK’s own function for the one write at the first deployment; the policy lets it write its log.'
  acknowledge(provider, `IAM4[Policy::${policy}]`, reason)
  acknowledge(provider, 'L1', 'CDK’s own function, whose runtime CDK chooses and keeps current.')
}
