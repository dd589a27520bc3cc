import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { DocumentCommand } from './dynamodb-model.ts'

/** A document client that the store's verbs and the SDK's paginators take for a real one. */
export function modelClient(
  execute: (command: DocumentCommand) => Promise<Record<string, unknown>>,
): DynamoDBDocumentClient {
  return Object.assign(Object.create(DynamoDBDocumentClient.prototype) as DynamoDBDocumentClient, {
    send: (command: DocumentCommand) => execute(command),
  })
}
