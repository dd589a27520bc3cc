import type { AdmissionRefusal } from '../basics/gateway-error.ts'
import type { Hold, Key } from '../keys/key.ts'
import type { CreditRefusal } from '../keys/notice.ts'
import type { Nano } from '../money/money.ts'
import type { Most } from './counters.ts'

/** All that one request needs of its key. Admission meets all of it or none. */
export type Demand = Most & {
  readonly requestId: string
  readonly hash: string
  readonly nowMs: number
  readonly holdUntilMs: number
  /** The refusal of credits for which this request is admitted without any. It leaves a mark, to be told. */
  readonly creditRefusal?: CreditRefusal | undefined
}

export type Release = {
  readonly address: string
  readonly requestId: string
  readonly hold: Hold
  readonly cost: Nano
  readonly tokensBack?: bigint | undefined
  /** The change of the key's loss of its day, below zero if more was taken before. */
  readonly loss?: Nano | undefined
  /** Set if the key has reached its bound on loss: the mark of that, to be told. */
  readonly reached?: string | undefined
}

export type AdmissionResult =
  /** The write proves the key to be current. A key that was read after an unknown outcome may have changed since. */
  | {
      readonly admitted: true
      readonly key: Key
      /** How many requests of the key that hold no credits are running, this one included, if it is one. */
      readonly freeUnderWay?: number | undefined
      readonly isReadAfter?: true
    }
  /** The key as it was when the write was refused. It was a stale copy if there is no reason: worth another try. */
  | { readonly admitted: false; readonly key: Key | undefined; readonly why?: AdmissionRefusal | undefined }
  /** The outcome of the write is unknown. It has not landed yet but still may: its request id must not be used again. */
  | { readonly admitted: 'unknown'; readonly key: Key | undefined; readonly cause: unknown }
