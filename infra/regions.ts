/** CloudFront takes its certificate, its firewall and the delivery of its logs from this region only, and has its metrics there. */
export const US_EAST_1 = 'us-east-1'

/** Chat needs a Function URL to stream: docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html */
export const WITHOUT_FUNCTION_URLS: readonly string[] = [
  ...['ap-east-2', 'ap-south-2', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-6', 'ap-southeast-7', 'ca-west-1'],
  ...['eu-central-2', 'eu-south-2', 'il-central-1', 'me-central-1'],
]
