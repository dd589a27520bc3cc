type Detail = {
  /** Node's code for the connection that broke. */
  readonly code?: string | undefined
  /** True if the service reports the fault as its own. */
  readonly isServers?: boolean
  readonly answer?: Readonly<Record<string, unknown>>
}

/** A call to a service of AWS failed. The fields have the names that they have in AWS's SDK. */
export class ServiceError extends Error {
  override readonly name: string
  readonly code: string | undefined
  readonly $fault: 'client' | 'server'
  readonly answer: Readonly<Record<string, unknown>>

  constructor(name: string, message: string, { code, isServers = false, answer = {} }: Detail, options?: ErrorOptions) {
    super(message, options)
    this.name = name
    this.code = code
    this.$fault = isServers ? 'server' : 'client'
    this.answer = answer
  }
}
