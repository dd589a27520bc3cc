import { type LossDeps, lossOf } from '../../layers/gateway/domain/admission/counters.ts'
import type { PricedRequest } from '../../layers/gateway/domain/money/priced-request.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import { toGatewayError } from '../../layers/gateway/flow/answering/upstream-error.ts'
import type { AdmittedChat, RoutedRequest } from '../../layers/gateway/flow/request.ts'
import { askChat } from '../../layers/gateway/flow/routing/ask-chat.ts'
import { askEmbedding } from '../../layers/gateway/flow/routing/ask-embedding.ts'
import { RouteHealth } from '../../layers/gateway/flow/routing/route-health.ts'
import { type RoutingDeps, tryRoutes } from '../../layers/gateway/flow/routing/try-routes.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import type { TakeLoss } from '../../layers/gateway/store/admission/take-loss.ts'

/** Every dialect looks at its signal before it sends anything: with this one it ends there. */
const NOT_SENT = new UpstreamFailure('rejected', 'Nothing was sent.')
const SEND_NOTHING = AbortSignal.abort(NOT_SENT)

/** No provider's key is read. */
const open = openProvider({ env: () => 'none', secret: async () => 'none' })
const health = new RouteHealth(Math.random)

/** Builds the request for its routes, as it would be sent, and throws the refusal if no route can take it. */
export async function requireSendable(
  { clock, log, dailyLoss }: Pick<RoutingDeps, 'clock' | 'log'> & LossDeps,
  admitted: AdmittedChat,
  priced: PricedRequest,
): Promise<void> {
  const request: RoutedRequest = { ...admitted, priced, journey: { attempts: [] } }
  const { key } = admitted.credential
  const takeLoss: TakeLoss = async ({ amount, bound }) => lossOf(key, admitted.nowMs) + amount <= bound
  const { embedding } = priced.chat
  const deps = { openProvider: open, health, clock, log, takeLoss, dailyLoss }
  try {
    await tryRoutes<unknown>(deps, request, new AbortController().signal, (route) =>
      embedding ? askEmbedding(route, request, embedding, SEND_NOTHING) : askChat(route, request, SEND_NOTHING),
    )
  } catch (error) {
    if (error !== NOT_SENT) throw toGatewayError(error)
  }
}
