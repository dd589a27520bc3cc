import type { History, Step } from './history.ts'

/** The shortest history of the same kind that still breaks, found by taking steps away as long as that is possible. */
export async function shrink(history: History, breaks: (history: History) => Promise<boolean>): Promise<History> {
  let steps = history.steps
  for (let size = Math.ceil(steps.length / 2); size >= 1; ) {
    const shorter = await withoutSome(steps, size, (tried) => breaks({ ...history, steps: tried }))
    if (shorter) steps = shorter
    else if (size === 1) break
    if (!shorter) size = Math.ceil(size / 2)
  }
  return { ...history, steps }
}

async function withoutSome(
  steps: readonly Step[],
  size: number,
  breaks: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[] | undefined> {
  for (let from = 0; from < steps.length; from += size) {
    const tried = [...steps.slice(0, from), ...steps.slice(from + size)]
    if (await breaks(tried)) return tried
  }
  return undefined
}
