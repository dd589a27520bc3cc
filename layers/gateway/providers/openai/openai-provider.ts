import type { OpenAiEntry } from '../../domain/catalog.ts'
import { readErrorReply } from '../http/error-reply.ts'
import { isJson, readJson } from '../http/json-reply.ts'
import { post, targetOf } from '../http/post.ts'
import { readEvents } from '../http/server-sent-events.ts'
import type { Provider, ReadApiKey } from '../provider.ts'
import { requireHeld } from '../require-held.ts'
import { OpenAiEvents, readCompletion } from './openai-answer.ts'
import { readEmbedding, toEmbeddingRequest } from './openai-embeddings.ts'
import { toOpenAiRequest } from './openai-request.ts'
import { aboutText, isTextCall, toTextRequest } from './openai-text.ts'

/** Any upstream that speaks OpenAI's chat completions. */
export function openaiProvider(id: string, entry: OpenAiEntry, apiKey: ReadApiKey | undefined): Provider {
  const targetAt = (path: string) =>
    targetOf(`${entry.baseUrl.replace(/\/+$/, '')}${path}`, {
      ...entry.headers,
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
    })
  const target = targetAt('/chat/completions')
  return {
    id,
    async chat(call) {
      const isText = isTextCall(call)
      const request = isText ? toTextRequest(call, entry) : toOpenAiRequest(call, entry)
      const body = JSON.stringify(requireHeld(request, call.chat))
      const key = apiKey && (await apiKey())
      const reply = await post({
        target: isText ? targetAt('/completions') : target,
        headers: key ? ['authorization', `Bearer ${key}`] : [],
        body,
        idleTimeoutMs: call.idleTimeoutMs,
        signal: call.signal,
      })
      if (reply.status !== 200) {
        const failure = await readErrorReply(reply, key, call.model)
        throw isText ? aboutText(failure) : failure
      }
      if (!isJson(reply)) return readEvents(reply, call, new OpenAiEvents(key))
      const completion = readJson(reply)
      return [readCompletion(completion instanceof Promise ? await completion : completion, key)]
    },
    async embed(call) {
      const body = JSON.stringify(requireHeld(toEmbeddingRequest(call), call.chat))
      const key = apiKey && (await apiKey())
      const reply = await post({
        target: targetAt('/embeddings'),
        headers: key ? ['authorization', `Bearer ${key}`] : [],
        body,
        idleTimeoutMs: call.idleTimeoutMs,
        signal: call.signal,
      })
      if (reply.status !== 200) throw await readErrorReply(reply, key, call.model)
      return readEmbedding(reply, call, key)
    },
  }
}
