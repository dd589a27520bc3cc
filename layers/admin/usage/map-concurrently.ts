/** The results of work on each item, so many under way at once, in the order of the items. */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<readonly Result[]>,
): AsyncGenerator<Result, void, undefined> {
  const underWay: Promise<readonly Result[]>[] = []
  for await (const item of items) {
    const started = work(item)
    // Its failure is told when it is its turn.
    started.catch(() => {})
    underWay.push(started)
    if (underWay.length >= most) yield* (await underWay.shift()) ?? []
  }
  for (const last of underWay) yield* await last
}
