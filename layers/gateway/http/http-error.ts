/** No whole answer came: the connection failed, or what came over it is not HTTP. */
export class HttpError extends Error {
  /** As node names it, or one of ours. */
  readonly code: string
  /** Whether a kept connection had ended before anything came over it, so that the call may be made on another one. */
  readonly isStale: boolean

  constructor(
    code: string,
    message: string,
    { isStale = false, ...options }: ErrorOptions & { isStale?: boolean } = {},
  ) {
    super(message, options)
    this.code = code
    this.isStale = isStale
  }
}
