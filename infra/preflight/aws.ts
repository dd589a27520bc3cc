import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation'
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { endpointOf } from '../../layers/gateway/platform/aws/service.ts'
import { signRequest } from '../../layers/gateway/platform/aws/sign-request.ts'
import { US_EAST_1 } from '../regions.ts'

/** CloudFront has no region: it has one address, and its requests are signed for this region. */
const CLOUDFRONT = { region: US_EAST_1, endpoint: 'https://cloudfront.amazonaws.com' }

/** This region, or the one that AWS's own tools find, in variables and profiles. Throws if there is none. */
export async function findRegion(wanted?: string): Promise<string> {
  return new CloudFormationClient({ ...(wanted && { region: wanted }) }).config.region()
}

/** The questions of checks to AWS, with the credentials that its own tools find. None changes anything. */
export class Aws {
  readonly region: string
  readonly #cloudFormation: CloudFormationClient

  constructor(region: string) {
    this.region = region
    this.#cloudFormation = new CloudFormationClient({ region, maxAttempts: 2 })
  }

  async stack(name: string): Promise<Stack | undefined> {
    try {
      const { Stacks } = await this.#cloudFormation.send(new DescribeStacksCommand({ StackName: name }))
      return Stacks?.[0]
    } catch (error) {
      if ((error as Error).name === 'ValidationError') return undefined
      throw error
    }
  }

  async tables(): Promise<string[]> {
    const client = new DynamoDBClient({ region: this.region, maxAttempts: 2 })
    return (await Array.fromAsync(paginateListTables({ client }, {}))).flatMap(({ TableNames = [] }) => TableNames)
  }

  /** The text of an answer with status 200. An SDK client for each of these would be megabytes for one question. */
  async get(service: 'sts' | 'lambda' | 'cloudfront' | 'bedrock', path: string, region = this.region): Promise<string> {
    const place = service === 'cloudfront' ? CLOUDFRONT : { region, endpoint: endpointOf(service, region) }
    const own = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] || process.env.AWS_ENDPOINT_URL
    const url = new URL(path, own || place.endpoint)
    const credentials = await this.#cloudFormation.config.credentials()
    const headers = signRequest(
      { service, region: place.region, credentials, nowMs: Date.now() },
      {
        method: 'GET',
        path: url.pathname,
        query: Object.fromEntries([...url.searchParams].map(([name, value]) => [name, [value]])),
        headers: { host: url.host },
      },
    )
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) })
    const text = await answer.text()
    if (answer.status === 200) return text
    throw refusalOf(answer, text)
  }
}

/** Services name an error in a header, or in XML. */
function refusalOf({ status, headers }: Response, text: string): Error {
  const [, inXml = `status ${status}`] = /<Code>([^<]+)<\/Code>/.exec(text) ?? []
  const [, message = text.slice(0, 300)] = /(?:<Message>|"[Mm]essage"\s*:\s*")([^<"]*)/.exec(text) ?? []
  return Object.assign(new Error(message), { name: headers.get('x-amzn-errortype')?.split(':')[0] ?? inXml })
}
