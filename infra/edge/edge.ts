import { Duration, Fn, Tags } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { CHAT_PATHS } from '../../layers/gateway/endpoints.ts'
import { EDGE_HEADERS } from '../../layers/gateway/names.ts'
import { acknowledge } from '../acknowledge.ts'
import { acceptedNumbers, EDGE_TIMEOUT_SECONDS, type Stage } from '../stages.ts'
import { EDGE_PARTS_TAG, type EdgeParts } from './parts-in-us-east-1.ts'

type Props = {
  readonly stage: Stage
  readonly chatUrl: FunctionUrl
  readonly api: HttpApi
  /** Shared with the functions, so that they accept requests from this distribution only, and trust its viewer addresses. */
  readonly originSecret: string
} & EdgeParts

// Lambda takes events of 6 MiB ("Lambda quotas"). In them the text of a JSON body may double, because quotation marks are escaped; one of another
// type is in base64, a third longer. A longer body than these is refused here, because Lambda's own refusal is in no client's words.
const [MAY_DOUBLE_BYTES, MOST_BYTES] = [3_000_000, 4_600_000]
const message = 'The request body is too large; at most 4194304 bytes are accepted. Send less, or in several requests.'
const error = { message, type: 'invalid_request_error', param: null, code: 'request_too_large' }
const TOO_LARGE = {
  statusCode: 413,
  statusDescription: 'Content Too Large',
  body: JSON.stringify({ type: 'error', error }),
  headers: { 'content-type': { value: 'application/json' } },
}
const ON_REQUEST = `function handler(event) {
  const headers = event.request.headers;
  const type = headers['content-type'];
  const bytes = Number((headers['content-length'] || {}).value);
  if (bytes > ${MOST_BYTES}) return ${JSON.stringify(TOO_LARGE)};
  headers['${EDGE_HEADERS.viewer}'] = { value: event.viewer.ip };
  delete headers['${EDGE_HEADERS.type}'];
  if (type && !(bytes <= ${MAY_DOUBLE_BYTES})) {
    headers['${EDGE_HEADERS.type}'] = { value: type.value };
    headers['content-type'] = { value: 'application/octet-stream' };
  }
  return event.request;
}`

/** One address for everything: chat goes to its Function URL, the rest to the API. Nothing is cached. */
export function addEdge(parent: Construct, props: Props): cloudfront.Distribution {
  const scope = new Construct(parent, 'Edge')
  const { stage, chatUrl, api, originSecret, certificateArn, webAcl, contentHash } = props
  const viewerAddress = new cloudfront.Function(scope, 'ViewerAddress', {
    comment: 'Tells the gateway who is calling, and keeps long bodies within what Lambda takes',
    runtime: cloudfront.FunctionRuntime.JS_2_0,
    code: cloudfront.FunctionCode.fromInline(ON_REQUEST),
  })
  const customHeaders = { [EDGE_HEADERS.origin]: originSecret }
  const behaviour = {
    allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
    cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
    originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
    compress: false,
    functionAssociations: [{ function: viewerAddress, eventType: cloudfront.FunctionEventType.VIEWER_REQUEST }],
  }
  // A timeout between bytes: streams send a comment every 15 seconds.
  const readTimeout = Duration.seconds(EDGE_TIMEOUT_SECONDS)
  const chat = new HttpOrigin(hostOf(chatUrl.url), { customHeaders, readTimeout })
  const distribution = new cloudfront.Distribution(scope, 'Distribution', {
    comment: `Waybill ${stage.name}`,
    enableIpv6: stage.ipv6,
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    priceClass: cloudfront.PriceClass.PRICE_CLASS_ALL,
    ...domainOf(scope, props),
    ...(webAcl && { webAclId: webAcl.arn }),
    defaultBehavior: { ...behaviour, origin: new HttpOrigin(hostOf(api.apiEndpoint), { customHeaders }) },
    additionalBehaviors: Object.fromEntries(CHAT_PATHS.map((start) => [`${start}*`, { ...behaviour, origin: chat }])),
  })
  if (contentHash !== undefined) Tags.of(distribution).add(EDGE_PARTS_TAG, contentHash)
  acknowledge(distribution, 'CFR1', 'Who may call from where is decided per key, by its allowlist.')
  acknowledge(distribution, 'CFR3', stage.edgeLogs ? WITH_LOGS : WITHOUT_LOGS)
  if (!webAcl) acknowledge(distribution, 'CFR2', WITHOUT_FIREWALL)
  if (certificateArn === undefined) acknowledge(distribution, 'CFR4', WITHOUT_DOMAIN)
  return distribution
}

/** If there is no domain, CloudFront has a name and a certificate of its own. */
function domainOf(scope: Construct, { stage: { domain }, certificateArn }: Props) {
  if (!domain || certificateArn === undefined) return {}
  return {
    domainNames: [domain.name],
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
    sslSupportMethod: cloudfront.SSLMethod.SNI,
  }
}

const WITHOUT_LOGS = 'Every authenticated request has a usage row and a log line; a second log is the setting edgeLogs.'
const WITH_LOGS =
  'The rule looks for the former kind of logs only, which have every query. The present kind is delivered.'
const WITHOUT_FIREWALL =
  'A web firewall costs a fixed sum each month; keys without a valid secret are refused by one read.'
const WITHOUT_DOMAIN =
  'Without a domain of the operator’s own CloudFront offers its default certificate only, which sets the TLS policy.'

function hostOf(url: string): string {
  return Fn.select(2, Fn.split('/', url))
}

/** Each number is a secret of its own: CloudFormation resolves a reference again only if the reference itself changes. */
export function originSecrets(scope: Construct, sent: number) {
  const secrets = new Map(acceptedNumbers(sent).map((number) => [number, originSecret(scope, number)]))
  return { sent: secrets.get(sent) as string, accepted: [...secrets.values()].join(',') }
}

function originSecret(scope: Construct, number: number): string {
  const secret = new Secret(scope, `OriginSecret${number}`, {
    description: 'With it the CloudFront distribution proves itself to the functions behind it',
    generateSecretString: { passwordLength: 48, excludePunctuation: true },
  })
  const reason =
    'A deployment rotates it, because the distribution and the functions have to learn of it: docs/deploy.md.'
  acknowledge(secret, 'SMG4', reason)
  return secret.secretValue.unsafeUnwrap()
}
