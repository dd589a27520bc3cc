import type { AdmissionRefusal } from './gateway-error.ts'
import type { Hold, Key } from './key.ts'
import type { Nano } from './money.ts'

/** The demand of one request on its key, to be met all at once. */
export type Demand = {
  readonly requestId: string
  readonly hash: string
  readonly nowMs: number
  readonly hold: Nano
  readonly holdUntilMs: number
}

/** The end of a hold: its cost is spent, the rest comes back. */
export type Release = {
  readonly keyId: string
  readonly requestId: string
  readonly hold: Hold
  readonly cost: Nano
}

export type AdmissionResult =
  /** The key is proven by the write, unless it had to be read after one that was not answered: it may have changed since. */
  | {
      readonly admitted: true
      readonly key: Key
      /** Of a request that holds no credits: how many such requests of its key are under way, this one included. */
      readonly freeUnderWay?: number | undefined
      readonly isReadAfter?: true
    }
  /**
   * The key as it was when the write was refused, if it exists, and why it cannot meet the demand. Without a reason the
   * copy of the key was stale, and the write is worth another try.
   */
  | { readonly admitted: false; readonly key: Key | undefined; readonly why?: AdmissionRefusal | undefined }
  /** The write was not answered and has not landed, but still may: its request id must not be used again. */
  | { readonly admitted: 'unknown'; readonly key: Key | undefined; readonly cause: unknown }
