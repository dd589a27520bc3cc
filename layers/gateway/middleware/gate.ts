import type { Readable } from 'node:stream'
import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import type { Passage } from '../flow/passage.ts'
import type { Headers } from '../wire/headers.ts'

export type GatewayEvent = APIGatewayProxyEventV2
export type GatewayContext = Context & { passage: Passage }
export type GatewayAnswer = { statusCode: number; headers: Headers; body: string | Readable }

export type Gate = MiddlewareObj<GatewayEvent, GatewayAnswer, Error, GatewayContext>

export function headerOf(event: GatewayEvent, name: string): string | undefined {
  return event.headers[name]
}
