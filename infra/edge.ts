import { Duration, Fn, Validations } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginRequestPolicy,
  PriceClass,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { CHAT_PATHS, EDGE_HEADERS } from '../layers/gateway/contract.ts'
import type { Stage } from './stages.ts'

type Props = {
  readonly stage: Stage
  readonly chatUrl: FunctionUrl
  readonly api: HttpApi
  /** Shared with the functions, so that they take requests from this distribution only, and believe what it says of its viewers. */
  readonly originSecret: string
}

/** One address for everything: chat goes to its Function URL, the rest to the API. Nothing is cached. */
export class Edge extends Construct {
  readonly distribution: Distribution

  constructor(scope: Construct, id: string, { stage, chatUrl, api, originSecret }: Props) {
    super(scope, id)
    const viewerAddress = new EdgeFunction(this, 'ViewerAddress', {
      comment: 'Tells the gateway who is calling',
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(
        `function handler(event) {
  event.request.headers['${EDGE_HEADERS.viewer}'] = { value: event.viewer.ip };
  return event.request;
}`,
      ),
    })
    const customHeaders = { [EDGE_HEADERS.origin]: originSecret }
    const behaviour = {
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      compress: false,
      functionAssociations: [{ function: viewerAddress, eventType: FunctionEventType.VIEWER_REQUEST }],
    }
    // A gap timeout: streams send a comment every 15 seconds.
    const readTimeout = Duration.seconds(stage.edgeTimeoutSeconds)
    const chat = new HttpOrigin(hostOf(chatUrl.url), { customHeaders, readTimeout })
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `Waybill ${stage.name}`,
      enableIpv6: stage.ipv6,
      httpVersion: HttpVersion.HTTP2_AND_3,
      priceClass: PriceClass.PRICE_CLASS_ALL,
      defaultBehavior: {
        ...behaviour,
        origin: new HttpOrigin(hostOf(api.apiEndpoint), { customHeaders }),
      },
      additionalBehaviors: Object.fromEntries(CHAT_PATHS.map((start) => [`${start}*`, { ...behaviour, origin: chat }])),
    })
    Validations.of(this.distribution).acknowledge(
      {
        id: 'AwsSolutions::AwsSolutions-CFR1',
        reason: 'Who may call from where is decided per key, by its allowlist.',
      },
      {
        id: 'AwsSolutions::AwsSolutions-CFR2',
        reason: 'A web firewall costs a fixed sum each month; keys without a valid secret are refused by one read.',
      },
      {
        id: 'AwsSolutions::AwsSolutions-CFR3',
        reason: 'Every authenticated request has a usage row and a log line; a second log would only add addresses.',
      },
      {
        id: 'AwsSolutions::AwsSolutions-CFR4',
        reason:
          'Without a domain of the operator’s own CloudFront offers its default certificate only, which sets the TLS policy.',
      },
    )
  }
}

function hostOf(url: string): string {
  return Fn.select(2, Fn.split('/', url))
}
