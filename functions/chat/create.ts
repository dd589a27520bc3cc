import { Readable } from 'node:stream'
import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse'
import type { ChatDeps } from '../../layers/gateway/flow/answering/chat-deps.ts'
import { tokenQueue } from '../../layers/gateway/flow/billing/count-texts.ts'
import { chat } from '../../layers/gateway/flow/chat.ts'
import type { GatewayAnswer, GatewayEvent, IdentifiedRequest } from '../../layers/gateway/flow/request.ts'
import { RouteHealth } from '../../layers/gateway/flow/routing/route-health.ts'
import type { GatewayContext } from '../../layers/gateway/middleware/gate.ts'
import { secretName } from '../../layers/gateway/names.ts'
import { readVariable } from '../../layers/gateway/platform/config.ts'
import { readSecret } from '../../layers/gateway/providers/api-keys/read-secret.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { takeLoss } from '../../layers/gateway/store/admission/take-loss.ts'
import { admissionBy, gates, requestEnd } from '../gates.ts'
import type { Instance } from '../instance.ts'

const EVENT_STREAM = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

const JSON_BODY = { 'Content-Type': 'application/json' }

/** Tokens are counted by a function, by a thread or by a test; the upstreams are the real ones unless others are given. */
type Given = Pick<ChatDeps, 'countTokens'> &
  Partial<Pick<ChatDeps, 'openProvider'>> & {
    readonly limitHeap?: () => void
  }

export function createChat(instance: Instance, given: Given) {
  const { tables, config, clock, log } = instance
  const queue = tokenQueue(given.countTokens)
  const deps: ChatDeps = {
    ...instance,
    ...admissionBy(instance, 'UPDATED_NEW'),
    headerPrefix: config.headerPrefix,
    health: new RouteHealth(Math.random),
    takeLoss: takeLoss(tables),
    claimOrReplay: async (...asked) => (await import('#on-demand')).claimsOf(instance)(...asked),
    openProvider: openProvider({
      env: (name) => readVariable(name),
      secret: readSecret({
        fullName: (name) => secretName(config.stage ?? 'local', name),
        clock,
        problem: (what, error) => log.problem(what, error, '-'),
      }),
    }),
    ...given,
    countTokens: queue.forBills,
    countLater: queue.forCounts,
  }
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyInMillis: 0,
    ...(given.limitHeap && { requestStart: given.limitHeap }),
    requestEnd: requestEnd(instance),
  })
    .use(gates(instance, 'chat'))
    .handler(async (event: GatewayEvent, { request }: GatewayContext): Promise<GatewayAnswer> => {
      const body = inOnePiece(await chat(deps, request as IdentifiedRequest, event))
      return { statusCode: 200, headers: request.priced?.chat.stream ? EVENT_STREAM : JSON_BODY, body }
    })
}

const MOST_AT_ONCE = 16 * 1024

/** Middy writes a string at once, and a longer one in slices, which could cut a character of two units in half. */
function inOnePiece(body: GatewayAnswer['body']): GatewayAnswer['body'] {
  return typeof body === 'string' && body.length > MOST_AT_ONCE ? Readable.from([Buffer.from(body)]) : body
}
