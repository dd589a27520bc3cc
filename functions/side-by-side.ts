/** As many as keep an instance busy while others wait for the database. */
const AT_ONCE = 16

/** Works on every item, on several at a time. The first failure is thrown when all work under way has ended. */
export async function sideBySide<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const source = (async function* () {
    yield* items
  })()
  const worker = async () => {
    for (let next = await source.next(); !next.done; next = await source.next()) await work(next.value)
  }
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const { reason } of ended.filter((it) => it.status === 'rejected')) throw reason
}
