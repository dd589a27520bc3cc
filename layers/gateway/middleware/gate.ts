import type { Readable } from 'node:stream'
import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import type { GatewayRequest, OpenedRequest } from '../request.ts'
import type { Headers } from '../wire/headers.ts'

export type GatewayEvent = APIGatewayProxyEventV2
export type GatewayContext = Context & { request: GatewayRequest }
export type GatewayAnswer = { statusCode: number; headers: Headers; body: string | Readable }

export type Middleware = MiddlewareObj<GatewayEvent, GatewayAnswer, Error, GatewayContext>

/**
 * Takes a request from one stage to the next, or throws its refusal. It changes and returns the same object, so that a
 * refusal is answered in sight of how far the request came.
 */
export type Gate<From, To> = {
  readonly pass: (request: From, event: GatewayEvent) => To | Promise<To>
  /** Called for a request that failed at this gate or after it. */
  readonly failed?: (request: GatewayRequest) => Promise<void>
}

/** Gates in a row, as Middy's middlewares. The types ensure that each gate gets the stage it needs. */
export class Gates<Stage extends OpenedRequest> {
  readonly middlewares: readonly Middleware[]

  private constructor(middlewares: readonly Middleware[]) {
    this.middlewares = middlewares
  }

  /** Begins with the middlewares that open a request and close it again. */
  static of(...middlewares: readonly Middleware[]): Gates<OpenedRequest> {
    return new Gates<OpenedRequest>(middlewares)
  }

  /** Adds a middleware that may answer a request itself; the gates after it then do not see it. */
  middleware(middleware: Middleware): Gates<Stage> {
    return new Gates<Stage>([...this.middlewares, middleware])
  }

  gate<Next extends OpenedRequest>({ pass, failed }: Gate<Stage, Next>): Gates<Next> {
    const middleware: Middleware = {
      before: ({ event, context }) => {
        const proceed = (next: Next) => {
          context.request = next as GatewayRequest
        }
        // The row of gates is built in order, so the stage before this one is the one that this gate takes.
        const next = pass(context.request as unknown as Stage, event)
        // Most gates have nothing to wait for.
        return next instanceof Promise ? next.then(proceed) : proceed(next)
      },
      ...(failed && { onError: ({ context }) => failed(context.request) }),
    }
    return new Gates<Next>([...this.middlewares, middleware])
  }
}

export function headerOf(event: GatewayEvent, name: string): string | undefined {
  return event.headers[name]
}
