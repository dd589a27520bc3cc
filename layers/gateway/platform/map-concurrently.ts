/** The results of work on each item, with at most so many running concurrently, in the order of the items. */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<readonly Result[]>,
): AsyncGenerator<Result, void, undefined> {
  const underWay: Promise<readonly Result[]>[] = []
  for await (const item of items) {
    const started = work(item)
    // A failure is thrown when its turn comes.
    started.catch(() => {})
    underWay.push(started)
    if (underWay.length >= most) yield* (await underWay.shift()) ?? []
  }
  for (const last of underWay) yield* await last
}
