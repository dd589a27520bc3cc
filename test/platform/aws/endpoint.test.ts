import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { endpointOf } from '../../../layers/gateway/platform/aws/service.ts'

test.each([
  ...['us-east-1', 'eu-central-1', 'ap-southeast-7', 'il-central-1', 'us-gov-west-1', 'cn-north-1', 'cn-northwest-1'],
  ...['eusc-de-east-1', 'us-iso-east-1', 'us-isob-east-1', 'us-isof-south-1', 'eu-isoe-west-1'],
])('a service in %s is called at the address that AWS’s SDK has for it', (region) => {
  const { endpointProvider } = new DynamoDBClient({ region }).config
  expect(`${endpointOf('dynamodb', region)}/`).toBe(endpointProvider({ Region: region } as never).url.href)
})
