import type { ChatPart } from '../../layers/gateway/domain/chat.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/upstream-failure.ts'
import type { ChatCall, Provider } from '../../layers/gateway/providers/provider.ts'
import type { Script } from './history.ts'

/** Resolves when the upstream's next word has arrived. */
export type Ask = (script: Script) => Promise<void>

const COUNTS = { prompt_tokens: 12, completion_tokens: 5 }

/** An upstream that does what the request's `user` field says. */
export function scriptedProvider(ask: Ask): Provider {
  return {
    id: 'scripted',
    async *chat(call: ChatCall): AsyncGenerator<ChatPart> {
      const script = call.request.body.user as Script
      const next = () => untilAborted(ask(script), call.signal)
      if (script === 'hangs') await untilAborted(new Promise(() => {}), call.signal)
      await next()
      if (script === 'refuses') throw new UpstreamFailure('status', 'It refuses.', { status: 500 })
      yield choice('Hello', null)
      await next()
      if (script === 'breaks') throw new UpstreamFailure('reset', 'It broke.')
      yield choice(' there', 'stop')
      if (script === 'answers') yield { kind: 'usage', usage: COUNTS }
      if (script === 'boasts') yield { kind: 'usage', usage: { prompt_tokens: 10 ** 9, completion_tokens: 10 ** 9 } }
    },
  }
}

function choice(content: string, finishReason: string | null): ChatPart {
  return { kind: 'choice', index: 0, delta: { content }, logprobs: null, finishReason }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw signal.reason
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
