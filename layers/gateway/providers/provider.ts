import type { ChatPart, ChatRequest } from '../domain/chat.ts'

/** One call to one upstream. */
export type ChatCall = {
  readonly request: ChatRequest
  readonly outputCap: number
  /** The model's name at this upstream. */
  readonly model: string
  readonly idleTimeoutMs: number
  /** Aborted with an UpstreamFailure as its reason when the call must end. */
  readonly signal: AbortSignal
}

/** An upstream dialect. It always streams; its iterator throws UpstreamFailure and nothing else. */
export type Provider = {
  readonly id: string
  chat(call: ChatCall): AsyncIterable<ChatPart>
}
