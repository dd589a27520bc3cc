import type { Readable } from 'node:stream'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type { AnswerHead } from '../contracts/contract.ts'
import type { Key, OpenHold } from '../domain/keys/key.ts'
import type { Bill } from '../domain/money/bill.ts'
import type { Nano } from '../domain/money/money.ts'
import type { PriceStrings } from '../domain/money/price.ts'
import type { PricedRequest } from '../domain/money/priced-request.ts'
import type { Candidate } from '../domain/routing/route-cost.ts'
import type { UpstreamFailure } from '../domain/routing/upstream-failure.ts'
import type { Attempt } from '../domain/rows/usage-row.ts'
import type { Endpoint } from '../endpoints.ts'
import { HOLD_MARGIN_SECONDS } from '../names.ts'
import type { Headers } from '../wire/requests/headers.ts'
import type { Tally } from './answering/tally.ts'

/** A call, as AWS hands it to a function. */
export type GatewayEvent = APIGatewayProxyEventV2
export type GatewayAnswer = { statusCode: number; headers: Headers; body: string | Readable }

// A request grows: opened → identified → priced → admitted. It stays one object, which each gate changes: a field that is
// not readonly is set by gates, and `Object.assign` adds those of the next type.

export type OpenedRequest = {
  /** Changes in one case: if the outcome of admission is unknown, the request goes on under a new id. */
  requestId: string
  /** The one clock reading by which this request is judged. */
  readonly nowMs: number
  readonly deadlineMs: number
  endpoint: Endpoint
  sourceIp: string
  /** True if the call is for no endpoint of this function: `endpoint` is then the nearest. */
  isNowhere?: true
  readonly journey: Journey
  readonly settlement: Settlement
}

export type Credential = {
  readonly hash: string
  readonly key: Key
  readonly cached: boolean
  /** All lanes of a key that has several, at most a second old. */
  whole?: Promise<Key>
}

export type IdentifiedRequest = OpenedRequest & { credential: Credential }

export type PricedChat = IdentifiedRequest & { priced: PricedRequest }

/** After admission every outcome must settle. */
export type Admission = {
  hold: Nano
  /** Tokens that it took of its key's minute, if the key has a limit on them. */
  tokens?: bigint | undefined
  /** Holds of dead requests that admission saw. They are settled after this request is answered. */
  deadHolds: readonly OpenHold[]
  /** How many requests of its key that hold no credits are running, if this is one: it is included. */
  freeUnderWay?: number | undefined
}

export type AdmittedRequest = IdentifiedRequest & Admission

export type HeldClaim = {
  /** Without a text it is marked as answered by an answer too large to be kept. */
  readonly keep: (text: string | undefined) => Promise<void>
  readonly drop: () => Promise<void>
  /** For the frames of a stream. */
  readonly newCopy: () => { add(...frames: readonly string[]): void; readonly text: string | undefined }
}

export type Idempotency = { claim?: HeldClaim | undefined; replay?: Replay | undefined }

export type AdmittedChat = AdmittedRequest & Idempotency & { priced: PricedRequest }

export type RoutedRequest = Pick<
  AdmittedChat,
  'requestId' | 'nowMs' | 'deadlineMs' | 'hold' | 'credential' | 'priced' | 'journey'
>

/** A request of any of these types, for code that only observes it: headers, rows, clean-up. */
export type GatewayRequest = OpenedRequest &
  Idempotency & {
    credential?: Credential
    priced?: PricedRequest | undefined
    hold?: Nano
    tokens?: bigint | undefined
    deadHolds?: readonly OpenHold[]
  }

export function headOf({ requestId, nowMs, priced }: AdmittedChat): AnswerHead {
  return { requestId, nowMs, model: priced.model.id, chat: priced.chat }
}

export type Replay = { readonly requestId: string; readonly text: string }

type Settlement = {
  /** A stream that settles by itself before it ends. */
  streaming?: Promise<void>
  /** Settling has begun, and may outlast an answer that is not streamed. */
  settling?: Promise<void>
  /** The cost as far as it is known: of the bill at first, then of the row that was stored. */
  cost?: Nano
}

/** The request that failed: its key, and a hash of its body. */
export type Reporter = { readonly keyId: string; readonly body: string }

/** An attempt that brought the caller no answer, and that its upstream may bill. */
export type Owed = {
  readonly candidate: Candidate
  readonly tally: Tally
  /** Undefined if this gateway failed. */
  readonly failure: UpstreamFailure | undefined
  bill?: Bill
}

export type Journey = {
  readonly attempts: Attempt[]
  attemptAtMs?: number
  /** The route that was accepted, by its key in RouteHealth. It has succeeded when its answer is whole. */
  route?: string
  provider?: string
  /** The cost of that route to us, if the catalog states it. */
  cost?: PriceStrings
  /** Fields of the request that the route was not given, because the catalog tells to leave them out. */
  droppedFields?: readonly string[] | undefined
  upstreamModel?: string
  fallbackModel?: string
  /** True if the last attempt asked for a whole answer, which has no first token to be timed. */
  asksWhole?: boolean
  firstPartMs?: number
  reporter?: Reporter
  /** The route that was accepted, with its limits. */
  candidate?: Candidate
  owed?: readonly Owed[]
  /** The loss that was taken from the key's bound before routes were asked that cost more than is paid. */
  lossTaken?: Nano
  /** True if a route was not asked because that bound does not cover its worst loss. */
  isLossRefused?: boolean
}

/** Notes the result of the last attempt. A stream ends later than it is accepted. */
export function endAttempt({ attempts, attemptAtMs }: Journey, result: string, nowMs: number, said?: string): void {
  const last = attempts.pop()
  if (last) attempts.push({ ...last, result, ms: nowMs - (attemptAtMs ?? nowMs), ...(said && { said }) })
}

/** The time from which a request that has not ended counts as dead. */
export function deadAtMs({ deadlineMs }: Pick<OpenedRequest, 'deadlineMs'>): number {
  return deadlineMs + HOLD_MARGIN_SECONDS * 1000
}
