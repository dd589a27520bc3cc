import type { CountTokens } from '../../layers/gateway/flow/billing/count-texts.ts'
import { tokenQueue } from '../../layers/gateway/flow/billing/token-queue.ts'
import { prefetching } from '../../layers/gateway/flow/routing/catalog-cache.ts'
import { admit } from '../../layers/gateway/middleware/admit.ts'
import { authorize } from '../../layers/gateway/middleware/authorize.ts'
import { openQuote } from '../../layers/gateway/middleware/open-quote.ts'
import { readAndPrice } from '../../layers/gateway/middleware/read-and-price.ts'
import { refuse } from '../../layers/gateway/middleware/refuse.ts'
import type { Admission, AdmittedChat, PricedChat } from '../../layers/gateway/request.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { admissionBy, entrance } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'
import { answerQuote } from './answer-quote.ts'

/** The gates of chat, in their order. The key is checked a second time, now for the scope of the quoted endpoint. */
export function createQuote(instance: Instance, countTokens: CountTokens) {
  const { tables, loadCatalog, config, cache, finishDeadHolds } = instance
  const read = readKey(tables)
  const gates = entrance(instance, 'quote', { prefetch: prefetching(loadCatalog) })
    .gate(openQuote())
    .gate(authorize({ readKey: read, cache }))
    .gate(readAndPrice(loadCatalog, config.headerPrefix))
    .gate(admit<PricedChat>(admissionBy(instance)))
    .gate(refuse<PricedChat & Admission>())
  const { forCounts } = tokenQueue(countTokens)
  const deps = { ...instance, countTokens: forCounts, countLater: forCounts, readKey: read, finishDeadHolds }
  return jsonHandler(instance, gates, (request) => answerQuote(deps, request as AdmittedChat))
}
