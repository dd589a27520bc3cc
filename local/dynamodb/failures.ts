export class DynamoDbError extends Error {
  override readonly name: string
  readonly detail: object

  constructor(name: string, message: string, detail: object = {}) {
    super(message)
    this.name = name
    this.detail = detail
  }
}

export function validationError(message: string): DynamoDbError {
  return new DynamoDbError('ValidationException', message)
}

export function unsupported(feature: string): DynamoDbError {
  return validationError(`The local database does not support ${feature}, which the gateway does not use`)
}

/** Why a write is refused. One that is no part of a transaction is refused with an error of its reason's name. */
export type Reason = { readonly Code: string; readonly Message?: string; readonly Item?: object }
