import type { MiddlewareObj } from '@middy/core'
import type { Context } from 'aws-lambda'
import type { GatewayAnswer, GatewayEvent } from '../flow/event.ts'
import type { GatewayRequest, OpenedRequest } from '../flow/request.ts'

export type GatewayContext = Context & { request: GatewayRequest }

export type Middleware = MiddlewareObj<GatewayEvent, GatewayAnswer, Error, GatewayContext>

/** Adds to a request what the next gate or the answer needs, or throws its refusal. Most gates have nothing to wait for. */
export type Gate<Request extends OpenedRequest = OpenedRequest> = (
  request: Request,
  event: GatewayEvent,
) => void | Promise<void>

/** A gate as a middleware of Middy. */
export function gate<Request extends OpenedRequest>(pass: Gate<Request>): Middleware {
  return { before: ({ event, context }) => pass(context.request as unknown as Request, event) }
}
