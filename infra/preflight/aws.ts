import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation'
import { endpointOf } from '../../layers/gateway/platform/aws/service.ts'
import { signRequest } from '../../layers/gateway/platform/aws/sign-request.ts'

type Call = {
  readonly path: string
  /** The body of a POST, in one of the two forms that services accept; without either the call is a GET. */
  readonly form?: string
  readonly json?: string
  /** The operation, if it is not in the path. */
  readonly target?: string
  /** The region of the service, if it is not that of the deployment. */
  readonly region?: string
}

/** The questions of checks to AWS. None changes anything. */
export type Aws = {
  readonly region: string
  in(region: string): Aws
  stack(name: string): Promise<Stack | undefined>
  /** The text of an answer with status 200; anything else is an AwsRefusal. */
  ask(service: Service, call: Call): Promise<string>
}

type Service = 'sts' | 'lambda' | 'cloudfront' | 'bedrock' | 'dynamodb' | 'secretsmanager'

class AwsRefusal extends Error {
  override readonly name: string

  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

const TIMEOUT_MS = 10_000
/** CloudFront has no region: it has one address, and its requests are signed for this region. */
const CLOUDFRONT = { region: 'us-east-1', endpoint: 'https://cloudfront.amazonaws.com' }

/** Region and credentials are found as AWS's own tools find them: in variables, profiles and sign-ins. */
export function openAws(wanted?: string): { findRegion(): Promise<string>; at(region: string): Aws } {
  return { findRegion: async () => open(wanted).config.region(), at: (region) => awsAt(region, open(region)) }
}

function open(region?: string): CloudFormationClient {
  return new CloudFormationClient({ maxAttempts: 2, ...(region && { region }) })
}

/** An SDK client for each service would be megabytes for one question. */
function awsAt(region: string, cloudFormation: CloudFormationClient): Aws {
  return { region, in: (other) => awsAt(other, open(other)), stack, ask }

  async function stack(name: string): Promise<Stack | undefined> {
    try {
      const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName: name }))
      return Stacks?.[0]
    } catch (error) {
      if ((error as Error).name === 'ValidationError') return undefined
      throw error
    }
  }

  async function ask(service: Service, { path, form, json, target, region: at = region }: Call): Promise<string> {
    const place = service === 'cloudfront' ? CLOUDFRONT : { region: at, endpoint: endpointOf(service, at) }
    const variable = service === 'secretsmanager' ? 'SECRETS_MANAGER' : service.toUpperCase()
    const url = new URL(
      path,
      process.env[`AWS_ENDPOINT_URL_${variable}`] || process.env.AWS_ENDPOINT_URL || place.endpoint,
    )
    const body = form ?? json
    const method = body === undefined ? 'GET' : 'POST'
    const credentials = await cloudFormation.config.credentials()
    const headers = signRequest(
      { service, region: place.region, credentials, nowMs: Date.now() },
      {
        method,
        path: url.pathname,
        query: Object.fromEntries([...url.searchParams].map(([name, value]) => [name, [value]])),
        headers: {
          host: url.host,
          ...(body !== undefined && { 'content-type': form === undefined ? jsonOf(service) : FORM }),
          ...(target !== undefined && { 'x-amz-target': target }),
        },
        ...(body !== undefined && { body }),
      },
    )
    const answer = await fetch(url, { method, headers, body: body ?? null, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const text = await answer.text()
    if (answer.status !== 200) throw refusalOf(answer, text)
    return text
  }
}

const FORM = 'application/x-www-form-urlencoded; charset=utf-8'

function jsonOf(service: Service): string {
  return `application/x-amz-json-${service === 'dynamodb' ? '1.0' : '1.1'}`
}

/** Services name an error in a header, in JSON or in XML. */
function refusalOf({ status, headers }: Response, text: string): AwsRefusal {
  const [, inJson] = /"__type"\s*:\s*"(?:[^"#]*#)?([^"]+)"/.exec(text) ?? []
  const [, inXml] = /<Code>([^<]+)<\/Code>/.exec(text) ?? []
  const name = headers.get('x-amzn-errortype')?.split(':')[0] ?? inJson ?? inXml ?? `status ${status}`
  const [, message = text.slice(0, 300)] =
    /<Message>([^<]*)<\/Message>/.exec(text) ?? /"[Mm]essage"\s*:\s*"([^"]*)"/.exec(text) ?? []
  return new AwsRefusal(name, message)
}
