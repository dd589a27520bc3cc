export type Context = { getRemainingTimeInMillis(): number }

/** Kept back from the function's timeout, for work that is under way when a run ends itself. */
const RESERVE_MS = 30_000

/** The time that a run has for more work; without Lambda's context there is no end. */
export function timeLeft(context?: Context): () => number {
  return () => (context?.getRemainingTimeInMillis() ?? Infinity) - RESERVE_MS
}

/** Works on several items at once while there is time; true if on all. Throws the first failure when all have ended. */
export async function sideBySide<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  hasTime: () => boolean,
  work: (item: Item) => Promise<unknown>,
): Promise<boolean> {
  const source = (async function* () {
    yield* items
  })()
  let isAll = true
  const worker = async () => {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      if (!hasTime()) {
        isAll = false
        return
      }
      await work(next.value)
    }
  }
  // So many keep an instance busy while each waits for the database.
  const ended = await Promise.allSettled(Array.from({ length: 16 }, worker))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return isAll
}
