import type { OpenAiEntry } from '../../domain/routing/catalog.ts'
import { answerReader, bearer, httpUpstream, inServiceTier, serviceTierOf } from '../http-upstream.ts'
import type { Authorize, ChatCall, Provider } from '../provider.ts'
import { hasNoCompaction, readCompacted, readCount, toCompactRequest, toCountRequest } from './other-verbs.ts'
import { ResponsesEvents, readResponse } from './responses-answer.ts'
import { toResponsesRequest } from './responses-request.ts'

const isNative = ({ chat }: ChatCall) => chat.original?.contract === 'responses'

const read = answerReader(
  (response, call, key) => readResponse(response, key, isNative(call)),
  (call, key) => new ResponsesEvents(key, isNative(call)),
)

/** An upstream that speaks OpenAI's Responses. It is asked to store nothing. */
export function responsesProvider(id: string, entry: OpenAiEntry, authorize: Authorize | undefined): Provider {
  const verb = httpUpstream({ ...entry, authorize, keyHeader: bearer })
  const tier = serviceTierOf(entry)
  const toRequest = (call: ChatCall) => inServiceTier(toResponsesRequest(call), call, tier)
  const chat = verb({ path: '/responses', toRequest, read })
  const compact = verb({
    path: '/responses/compact',
    toRequest: (call: ChatCall) => inServiceTier(toCompactRequest(call), call, tier),
    read: readCompacted,
  })
  return {
    id,
    // An upstream without compaction is asked for a summary, as one of another format is.
    chat: ({ compacts, ...call }) =>
      compacts
        ? compact(call).catch((error) => (hasNoCompaction(error) ? chat(call) : Promise.reject(error)))
        : chat(call),
    countTokens: verb({ path: '/responses/input_tokens', toRequest: toCountRequest, read: readCount }),
  }
}
