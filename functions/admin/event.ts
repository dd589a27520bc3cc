/** API Gateway's event (an HTTP API, version 2.0), as far as it is read. */
export type AdminEvent = {
  readonly rawPath: string
  readonly rawQueryString?: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string
  readonly isBase64Encoded?: boolean
  readonly requestContext: {
    readonly http: { readonly method: string; readonly sourceIp: string }
    /** Set by API Gateway, and only if AWS has checked the signature. */
    readonly authorizer?: { readonly iam?: { readonly userArn?: string } }
  }
}

export function bodyOf({ body = '', isBase64Encoded }: AdminEvent): Uint8Array {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
}
