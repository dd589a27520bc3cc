import type { OpenAiEntry } from '../../domain/catalog.ts'
import { readErrorReply } from '../http/error-reply.ts'
import { isJson, readJson } from '../http/json-reply.ts'
import { post, targetOf } from '../http/post.ts'
import { readEvents } from '../http/server-sent-events.ts'
import type { Provider, ReadApiKey } from '../provider.ts'
import { requireHeld } from '../require-held.ts'
import { ResponsesEvents, readResponse } from './responses-answer.ts'
import { toResponsesRequest } from './responses-request.ts'

/** An upstream that speaks OpenAI's Responses. It is asked to store nothing. */
export function responsesProvider(id: string, entry: OpenAiEntry, apiKey: ReadApiKey | undefined): Provider {
  const target = targetOf(`${entry.baseUrl.replace(/\/+$/, '')}/responses`, {
    ...entry.headers,
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
  })
  return {
    id,
    async chat(call) {
      const body = JSON.stringify(requireHeld(toResponsesRequest(call), call.chat))
      const key = apiKey && (await apiKey())
      const reply = await post({
        target,
        headers: key ? ['authorization', `Bearer ${key}`] : [],
        body,
        idleTimeoutMs: call.idleTimeoutMs,
        signal: call.signal,
      })
      if (reply.status !== 200) throw await readErrorReply(reply, key, call.model)
      if (isJson(reply)) return [readResponse(await readJson(reply), key)]
      return readEvents(reply, call, new ResponsesEvents(key))
    },
  }
}
