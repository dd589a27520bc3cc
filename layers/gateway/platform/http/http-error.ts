/** No complete answer came: the connection failed, or its bytes are not HTTP. */
export class HttpError extends Error {
  /** A code of Node, or one of ours. */
  readonly code: string
  /** True if a kept connection had ended before any byte came over it, so that the call may be made on another one. */
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
