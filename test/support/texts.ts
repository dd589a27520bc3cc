import { DONE, event, type Reply, sse, status, USAGE } from './upstream.ts'

const HEAD = { id: 'cmpl-up', object: 'text_completion', created: 1, model: 'upstream-model' }

export const LOGPROBS = {
  tokens: ['Hel', 'lo'],
  token_logprobs: [-0.1, -0.2],
  top_logprobs: [{ Hel: -0.1 }, { lo: -0.2 }],
  text_offset: [0, 3],
}

/** An upstream's text completion, whole or in pieces as it was asked for: one choice for each text. */
export function write(texts: readonly string[], usage: unknown = USAGE): Reply {
  return (response, request) => {
    const logprobs = typeof request.body.logprobs === 'number' ? LOGPROBS : null
    const choice = (text: string, index: number, reason: string | null) => ({
      text,
      index,
      logprobs,
      finish_reason: reason,
    })
    const told = usage === null ? {} : { usage }
    if (request.body.stream === false) {
      const choices = texts.map((text, i) => choice(text, i, 'stop'))
      return status(200, { ...HEAD, choices, ...told })(response, request)
    }
    const pieces = texts.flatMap((text, i) => [
      event({ ...HEAD, choices: [choice(text, i, null)] }),
      event({ ...HEAD, choices: [{ ...choice('', i, 'stop'), logprobs: null }] }),
    ])
    return sse([...pieces, ...(usage === null ? [] : [event({ ...HEAD, choices: [], usage })]), DONE])(
      response,
      request,
    )
  }
}
