import type { Bill } from '../domain/bill.ts'
import type { ChatRequest, ChoicePart } from '../domain/chat.ts'
import type { GatewayError } from '../domain/gateway-error.ts'
import type { JsonBody } from '../wire/read-body.ts'

/** The words that are spoken at our door, whatever is asked for. No contract knows a dialect of the upstreams. */
export type RequestContract = {
  /** Throws a GatewayError. */
  readonly readRequest: (body: JsonBody) => ChatRequest
  /** Reads a request whose tokens are only counted, where the contract has such an endpoint. Throws a GatewayError. */
  readonly readCount?: (body: JsonBody) => ChatRequest
  /** The body of the answer that tells a count. */
  readonly countBody?: (tokens: number) => object
  /** The last frame of a stream, after the cost. */
  readonly lastFrame: string
  /** The body of an error. */
  readonly errorBody: (error: GatewayError, requestId: string) => object
}

/** A contract in which a model is asked for words: what it writes comes in ChatParts, whoever has answered. */
export type Contract = RequestContract & {
  /** Writes an answer as it comes. */
  readonly openStream: (head: AnswerHead) => StreamWriter
  /** Gathers an answer that is sent whole. */
  readonly openWhole: (head: AnswerHead) => AnswerBuilder
}

/** What an answer says of itself. */
export type AnswerHead = {
  readonly requestId: string
  readonly nowMs: number
  /** The model's id in the catalog. */
  readonly model: string
  readonly chat: ChatRequest
}

/** What was counted, and the usage as the upstream told it, of unknown worth. */
export type CountedUsage = { readonly bill: Bill; readonly reported: unknown }

export type StreamWriter = {
  /** The frames of one part. */
  choice(part: ChoicePart): string
  /** The frames that end a whole answer, but for the last. */
  end(usage: CountedUsage): string
  /** The frames that end a broken one. */
  error(error: GatewayError): string
}

export type AnswerBuilder = {
  /** About how long the answer is by now. */
  readonly chars: number
  add(part: ChoicePart): void
  /** Ends the answer here. */
  cut(): void
  build(usage: CountedUsage): object
}
