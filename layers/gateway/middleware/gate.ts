import type { MiddlewareObj } from '@middy/core'
import type { Context } from 'aws-lambda'
import type { GatewayAnswer, GatewayEvent, GatewayRequest, OpenedRequest } from '../flow/request.ts'

export type GatewayContext = Context & { request: GatewayRequest }

export type Middleware = MiddlewareObj<GatewayEvent, GatewayAnswer, Error, GatewayContext>

/** Adds to a request what the next gate or the answer needs, or throws its refusal. Most gates have nothing to wait for. */
export type Gate<Request extends OpenedRequest = OpenedRequest> = (
  request: Request,
  event: GatewayEvent,
) => void | Promise<void>
