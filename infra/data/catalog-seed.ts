import { marshall } from '@aws-sdk/util-dynamodb'
import { Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources'
import { Construct } from 'constructs'
import { CATALOG_HEAD, CATALOG_ITEM, SCHEMA_VERSION, SEEDED } from '../../layers/gateway/names.ts'
import { acknowledge } from '../acknowledge.ts'
import type { Seed } from '../settings.ts'
import type { Stage } from '../stages.ts'
import { addLogs } from './retention.ts'
import type { Tables } from './tables.ts'

/** The first deployment puts the seed in force. From then on only `waybill catalog push` changes it. */
export function addCatalogSeed(parent: Construct, { keys }: Tables, stage: Stage, seed: Seed): void {
  const scope = new Construct(parent, 'Catalog')
  const stamp = { version: 1, pushedAt: SEEDED, schemaVersion: SCHEMA_VERSION }
  const items = { Seed: { ...CATALOG_ITEM, ...seed, ...stamp }, Head: { ...CATALOG_HEAD, ...stamp } }
  const logGroup = addLogs(scope, 'SeedLogs', stage)
  for (const [id, item] of Object.entries(items)) {
    new AwsCustomResource(scope, id, {
      resourceType: `Custom::WaybillCatalog${id}`,
      installLatestAwsSdk: false,
      logGroup,
      onCreate: {
        service: 'DynamoDB',
        action: 'putItem',
        physicalResourceId: PhysicalResourceId.of(`waybill-catalog-${id.toLowerCase()}`),
        // An older catalog in an adopted table wins.
        ignoreErrorCodesMatching: 'ConditionalCheckFailedException',
        parameters: {
          TableName: keys.tableName,
          Item: marshall(item, { removeUndefinedValues: true }),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({
          actions: ['dynamodb:PutItem'],
          resources: [keys.tableArn],
          conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [CATALOG_ITEM.pk] } },
        }),
      ]),
    })
  }
  // The function that CDK makes for such calls; there is one in a stack.
  const provider = Stack.of(scope).node.findChild(`AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`)
  const policy = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole'
  const reason = 'CDK’s own function for the writes at the first deployment; the policy lets it write its log.'
  acknowledge(provider, `IAM4[Policy::${policy}]`, reason)
  acknowledge(provider, 'L1', 'CDK’s own function, whose runtime CDK chooses and keeps current.')
}
