import type { Scope } from '../contract.ts'
import type { Catalog } from '../domain/catalog.ts'
import type { ChatWork } from '../domain/chat-work.ts'
import type { GatewayError } from '../domain/gateway-error.ts'
import type { Claim } from '../domain/kept-answer.ts'
import type { Key, OpenHold } from '../domain/key.ts'
import type { Nano } from '../domain/money.ts'
import type { PriceStrings } from '../domain/price.ts'
import type { Attempt, EndpointName } from '../domain/usage-row.ts'
import type { AnswerSeal } from './answer-seal.ts'

/** What an endpoint asks of a key. */
export type Endpoint = { readonly name: EndpointName; readonly scope?: Scope }

/** What is known of one request, filled in gate by gate. */
export type Passage = {
  /** Changes in one case: if admission was not answered, the request goes on under a new one. */
  requestId: string
  /** The one clock reading by which this request is judged. */
  readonly nowMs: number
  /** When the function will be ended. */
  readonly deadlineMs: number
  readonly endpoint: Endpoint
  readonly sourceIp: string
  /** identify: the presented secret's hash and the newest known copy of its key. */
  credential?: { readonly hash: string; readonly key: Key; readonly cached: boolean }
  /** assess: what a chat request would take at most, or why it will be refused once its token is spent. */
  work?: AssessedWork
  refusal?: GatewayError
  /** claim: the Idempotency-Key that this request answers, or the answer that it repeats. */
  claim?: Claim & { readonly seal: AnswerSeal }
  replay?: Replay
  /** admit: what was taken. Past this every outcome must settle. */
  hold?: Nano
  /** Holds of dead requests that admission saw, to be finished when ours is answered. */
  deadHolds?: readonly OpenHold[]
  /** dispatch: where it went. */
  readonly journey: Journey
  /** settle: what it cost. */
  cost?: Nano
  /** A stream that settles by itself before it ends. */
  streaming?: Promise<void>
  /** What is not a stream is settled by this, which may outlast the answer. */
  settling?: Promise<void>
}

/** The text of an answer that was given before, and to which request. */
export type Replay = { readonly requestId: string; readonly text: string }

/** A hold outlives its function by this much before it counts as a dead request's. */
const HOLD_MARGIN_MS = 60_000

/** From when on a request that has not ended is dead. */
export function deadAtMs({ deadlineMs }: Passage): number {
  return deadlineMs + HOLD_MARGIN_MS
}

/** `pinned` are the providers that the caller wants and no others, if it named some. */
export type AssessedWork = {
  readonly chat: ChatWork
  readonly catalog: Catalog
  readonly pinned?: readonly string[] | undefined
}

export type Journey = {
  readonly attempts: Attempt[]
  /** The route that was accepted, as its health is remembered. It has succeeded when its answer is whole. */
  route?: string
  provider?: string
  /** What that route costs us, if the catalog says. */
  cost?: PriceStrings
  /** Fields of the request that the route was not given, because the catalog says to leave them out. */
  droppedFields?: readonly string[]
  upstreamModel?: string
  fallbackModel?: string
  firstPartMs?: number
}
