import type { GatewayError } from '../domain/basics/gateway-error.ts'
import type { ChatRequest, ChoicePart } from '../domain/chat/chat.ts'
import type { Bill } from '../domain/money/bill.ts'
import type { PricedModel } from '../domain/routing/catalog.ts'
import type { JsonBody } from '../wire/requests/read-body.ts'

/** An API format that callers use. No contract knows a dialect of the upstreams. */
export type RequestContract = {
  readonly readRequest: (body: JsonBody) => ChatRequest
  /** Reads a request whose tokens are only counted, where the contract has such an endpoint. Throws a GatewayError. */
  readonly readCount?: (body: JsonBody) => ChatRequest
  /** Reads a request to compact a conversation, where the contract has such an endpoint. */
  readonly readCompaction?: (body: JsonBody) => ChatRequest
  /** Refuses what one answer of the model cannot hold. */
  readonly requireRoom?: (chat: ChatRequest, model: PricedModel) => void
  readonly countBody?: (tokens: number) => object
  readonly lastFrame: string
  readonly errorBody: (error: GatewayError, requestId: string) => object
}

/** A contract whose answers are text. The answer comes in ChatParts, from every dialect. */
export type Contract = RequestContract & {
  readonly openStream: (head: AnswerHead) => StreamWriter
  readonly openWhole: (head: AnswerHead) => AnswerBuilder
}

export type AnswerHead = {
  readonly requestId: string
  readonly nowMs: number
  readonly model: string
  readonly chat: ChatRequest
}

/** The counts of the bill, the usage as the upstream reported it, not checked yet, and when the answer was whole. */
export type CountedUsage = { readonly bill: Bill; readonly reported: unknown; readonly endedMs: number }

export type StreamWriter = {
  choice(part: ChoicePart): string
  end(usage: CountedUsage): string
  error(error: GatewayError): string
}

export type AnswerBuilder = {
  readonly chars: number
  add(part: ChoicePart): void
  cut(): void
  build(usage: CountedUsage): object
}
