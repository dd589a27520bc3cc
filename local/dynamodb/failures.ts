export class DynamoDbError extends Error {
  override readonly name: string
  readonly detail: object

  constructor(name: string, message: string, detail: object = {}) {
    super(message)
    this.name = name
    this.detail = detail
  }
}

/** The file did not take a change. No command may be answered after it. */
export class StorageFailure extends Error {}

export function validationError(message: string): DynamoDbError {
  return new DynamoDbError('ValidationException', message)
}

export function unsupported(feature: string): DynamoDbError {
  return validationError(`The local database does not support ${feature}, which the gateway does not use`)
}
