/** So many keep an instance busy while each waits for the database. */
const AT_ONCE = 16

/**
 * Works on several items at a time for as long as there is time, and returns true if it has worked on every one. The
 * first failure is thrown when all work under way has ended.
 */
export async function sideBySide<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  hasTime: () => boolean,
  work: (item: Item) => Promise<void>,
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
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const { reason } of ended.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]) throw reason
  return isAll
}
