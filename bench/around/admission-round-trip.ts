import { Agent, request } from 'node:http'
import { writeInput } from '../../layers/gateway/store/dynamodb/write-input.ts'
import { openTables } from '../../layers/gateway/store/tables.ts'
import { LOCAL_TABLES } from '../../operator/connect/local-gateway.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { writesOfRequest } from '../writes-of-request.ts'

const agent = new Agent({ keepAlive: true })

/** How long DynamoDB Local takes to answer an admission, asked without any client of ours or the SDK's. */
export async function openRoundTrip(endpoint: string, upstreamUrl: string): Promise<() => Promise<number>> {
  const tables = openTables(LOCAL_TABLES, { endpoint })
  const { key } = await prepareTables(endpoint, upstreamUrl)
  return async () => {
    const { admission, settlement } = await writesOfRequest(tables, key)
    const ms = await roundTripMs(endpoint, writeInput(admission))
    await tables.database.update(settlement)
    return ms
  }
}

function roundTripMs(endpoint: string, body: string): Promise<number> {
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
