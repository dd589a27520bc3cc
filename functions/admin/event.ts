/** What API Gateway hands over, as far as it is read: an HTTP API's event, version 2.0. */
export type AdminEvent = {
  readonly rawPath: string
  readonly rawQueryString?: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string
  readonly isBase64Encoded?: boolean
  readonly requestContext: {
    readonly http: { readonly method: string; readonly sourceIp: string }
    /** API Gateway's own word, there only where AWS has checked the signature. */
    readonly authorizer?: { readonly iam?: { readonly userArn?: string } }
  }
}

export function bodyOf({ body = '', isBase64Encoded }: AdminEvent): Uint8Array {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
}
