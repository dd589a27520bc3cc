import type { Readable } from 'node:stream'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type { Headers } from '../wire/requests/headers.ts'

/** A call, as AWS hands it to a function. */
export type GatewayEvent = APIGatewayProxyEventV2
export type GatewayAnswer = { statusCode: number; headers: Headers; body: string | Readable }

export function headerOf(event: GatewayEvent, name: string): string | undefined {
  return event.headers[name]
}

/** The secret in the header of OpenAI's clients or, without that, of Anthropic's. */
export function secretOf(event: GatewayEvent): string | undefined {
  const header = headerOf(event, 'authorization')
  return header === undefined ? headerOf(event, 'x-api-key') : /^Bearer +([^\s]+) *$/i.exec(header)?.[1]
}
