import type { GatewayError } from '../domain/basics/gateway-error.ts'
import type { ChatRequest, ChoicePart } from '../domain/chat/chat.ts'
import type { Bill } from '../domain/money/bill.ts'
import type { JsonBody } from '../wire/requests/read-body.ts'

/** An API format that callers use. No contract knows a dialect of the upstreams. */
export type RequestContract = {
  /** Throws a GatewayError. */
  readonly readRequest: (body: JsonBody) => ChatRequest
  /** Reads a request whose tokens are only counted, where the contract has such an endpoint. Throws a GatewayError. */
  readonly readCount?: (body: JsonBody) => ChatRequest
  /** The body of the answer that tells a count. */
  readonly countBody?: (tokens: number) => object
  /** The last frame of a stream, after the cost. */
  readonly lastFrame: string
  readonly errorBody: (error: GatewayError, requestId: string) => object
}

/** A contract whose answers are text. The answer comes in ChatParts, from every dialect. */
export type Contract = RequestContract & {
  /** Writes an answer as it comes. */
  readonly openStream: (head: AnswerHead) => StreamWriter
  /** Gathers an answer that is sent whole. */
  readonly openWhole: (head: AnswerHead) => AnswerBuilder
}

export type AnswerHead = {
  readonly requestId: string
  readonly nowMs: number
  /** The model's id in the catalog. */
  readonly model: string
  readonly chat: ChatRequest
}

/** The counts of the bill, and the usage as the upstream reported it, not checked yet. */
export type CountedUsage = { readonly bill: Bill; readonly reported: unknown }

export type StreamWriter = {
  choice(part: ChoicePart): string
  /** The frames that end a whole answer, except the last. */
  end(usage: CountedUsage): string
  /** The frames that end a broken answer. */
  error(error: GatewayError): string
}

export type AnswerBuilder = {
  /** The length of the answer so far, about. */
  readonly chars: number
  add(part: ChoicePart): void
  cut(): void
  build(usage: CountedUsage): object
}
