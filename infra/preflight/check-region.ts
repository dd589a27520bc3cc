/** docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html */
export const WITHOUT_FUNCTION_URLS = [
  ...['ap-east-2', 'ap-south-2', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-6', 'ap-southeast-7', 'ca-west-1'],
  ...['eu-central-2', 'eu-south-2', 'il-central-1', 'me-central-1'],
]

/** A deployment into such a region would fail half-way, and in prod leave its tables behind. */
export function checkRegion(region: string | undefined): void {
  if (region === undefined || !WITHOUT_FUNCTION_URLS.includes(region)) return
  throw new Error(
    `Lambda has no Function URLs in ${region}, and chat needs one to stream: choose another region, by AWS_REGION or by the stack's env. These have none: ${WITHOUT_FUNCTION_URLS.join(', ')}.`,
  )
}
