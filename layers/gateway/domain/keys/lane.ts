/** One of several items of a key, among which its limits are dealt out. */
export type Lane = {
  readonly index: number
  /** How many lanes the key has ever had, which its first one knows. */
  readonly made?: number | undefined
  /** The deal in which it took part last. */
  readonly deal: number
  /** It takes no requests: it waits for its part, or gets none. */
  readonly isClosed: boolean
  /** Its parts of the limits that were dealt out. Of others, and of later windows, it has its share. */
  readonly dealt: Readonly<Record<string, bigint>>
  /** The deal that is under way, which the first lane knows: what it begins with, or what each lane gets. */
  readonly dealing?: string | undefined
}

/** The address of the first lane is the key's id, which has no dot. */
export function laneAddress(keyId: string, index: number): string {
  return index === 0 ? keyId : `${keyId}.${index}`
}

/** The lane of an address, or of a text that ends with one. */
export function laneIn(address: string): number {
  const at = address.lastIndexOf('.')
  return at < 0 ? 0 : Number(address.slice(at + 1))
}
