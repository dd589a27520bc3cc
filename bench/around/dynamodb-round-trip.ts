import { Agent, request } from 'node:http'
import { LOCAL_TABLES } from '../../operator/local-gateway.ts'

const agent = new Agent({ keepAlive: true })

/** How long DynamoDB Local takes to answer one write, asked without any client of ours or the SDK's. */
export function dynamodbRoundTripMs(endpoint: string): Promise<number> {
  const body = JSON.stringify({
    TableName: LOCAL_TABLES.keysTable,
    Key: { pk: { S: 'BENCH' }, sk: { S: 'BENCH' } },
    UpdateExpression: 'SET seen = if_not_exists(seen, :zero) + :one',
    ExpressionAttributeValues: { ':zero': { N: '0' }, ':one': { N: '1' } },
    ReturnValues: 'ALL_NEW',
  })
  const headers = {
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': Buffer.byteLength(body),
    'X-Amz-Target': 'DynamoDB_20120810.UpdateItem',
    // DynamoDB Local checks no signature, but takes the account and the region from where one stands.
    Authorization:
      'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  }
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(endpoint, { agent, method: 'POST', headers }, (response) => {
      response.resume()
      response.once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startMs)
        else reject(new Error(`DynamoDB Local answered ${response.statusCode}.`))
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
