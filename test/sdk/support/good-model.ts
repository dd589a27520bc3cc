import { chunk, DONE, type Reply, sse, status, usageChunk } from '../../support/upstream.ts'

type Json = Record<string, unknown>

/** A value that a schema allows: the first of its words, and of every object the required fields. */
function sampleOf({ enum: words, const: only, type, properties = {}, items = {}, anyOf }: Json): unknown {
  if (only !== undefined) return only
  if (Array.isArray(words)) return words[0]
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0] as Json)
  const kind = Array.isArray(type) ? type[0] : type
  if (kind === 'object') {
    return Object.fromEntries(Object.entries(properties as Json).map(([name, of]) => [name, sampleOf(of as Json)]))
  }
  if (kind === 'array') return [sampleOf(items as Json)]
  if (kind === 'integer' || kind === 'number') return 7
  return kind === 'boolean' ? true : 'CANARY_OK'
}

function toolCallsOf({ tools, tool_choice: choice }: Json): Json[] {
  if (!Array.isArray(tools) || choice === 'none' || choice === undefined || choice === 'auto') return []
  const name = (choice as { function?: { name?: string } }).function?.name
  const { function: called } = tools.find((tool) => !name || tool.function?.name === name) ?? tools[0]
  const args = JSON.stringify(sampleOf(called.parameters ?? { type: 'object' }))
  return [{ index: 0, id: 'call_1', type: 'function', function: { name: called.name, arguments: args } }]
}

function textOf({ response_format: format, messages, prompt, stop }: Json): string {
  const { type, json_schema: asked } = (format ?? {}) as { type?: string; json_schema?: { schema?: Json } }
  if (type === 'json_schema') return JSON.stringify(sampleOf(asked?.schema ?? { type: 'object' }))
  if (type === 'json_object') return '{"ok":true}'
  const last = JSON.stringify(prompt ?? (messages as Json[]).at(-1)?.content ?? '')
  const text = /count/i.test(last) ? '1, 2, 3, 4, 5, 6, 7, 8, 9, 10' : 'CANARY_OK hello'
  const ends = [stop ?? []].flat().map((word) => text.indexOf(String(word)))
  return text.slice(0, Math.min(text.length, ...ends.filter((at) => at >= 0)))
}

/** An upstream of chat completions that does whatever it is asked as a good model would. */
export const goodModel: Reply = (response, request) => {
  const { body } = request
  const calls = toolCallsOf(body)
  const most = Number(body.max_tokens ?? body.max_completion_tokens ?? 1_000)
  const tokens = textOf(body).match(/\s*\S+/g) ?? []
  const isCut = calls.length === 0 && tokens.length > most
  const content = calls.length > 0 ? null : tokens.slice(0, most).join('')
  const end = calls.length > 0 ? 'tool_calls' : isCut ? 'length' : 'stop'
  const count = Math.min(most, Math.max(1, tokens.length))
  const usage = { prompt_tokens: 10, completion_tokens: count, total_tokens: 10 + count }
  const entry = (token: string) => ({
    token,
    logprob: -0.1,
    bytes: [...Buffer.from(token)],
    top_logprobs: [{ token, logprob: -0.1, bytes: null }],
  })
  const logprobs = body.logprobs ? { content: tokens.slice(0, most).map(entry), refusal: null } : null
  const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) }
  const choices = Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({
    index,
    ...(body.prompt === undefined ? { message } : { text: content }),
    logprobs,
    finish_reason: end,
  }))
  const whole = { id: 'up-1', object: 'chat.completion', created: 1, model: 'm', choices, usage }
  if (body.stream !== true) return status(200, whole)(response, request)
  const pieces =
    calls.length > 0
      ? [chunk({ role: 'assistant', content: null, tool_calls: calls })]
      : tokens.slice(0, most).map((token) => {
          const choice = { index: 0, delta: { role: 'assistant', content: token }, finish_reason: null }
          return chunk({}, null, {
            choices: [{ ...choice, logprobs: body.logprobs ? { content: [entry(token)] } : null }],
          })
        })
  return sse([...pieces, chunk({}, end), usageChunk(usage), DONE])(response, request)
}
