import type { History } from './history.ts'

/** The shortest history of the same kind that still breaks, found by taking steps away as long as that is possible. */
export async function shrink(history: History, breaks: (history: History) => Promise<boolean>): Promise<History> {
  let short = history
  for (let size = Math.ceil(history.steps.length / 2); size >= 1; ) {
    const shorter = await withoutSome(short, size, breaks)
    if (shorter) short = shorter
    else if (size === 1) break
    else size = Math.ceil(size / 2)
  }
  return short
}

async function withoutSome(history: History, size: number, breaks: (history: History) => Promise<boolean>) {
  for (let from = 0; from < history.steps.length; from += size) {
    const steps = history.steps.toSpliced(from, size)
    if (await breaks({ ...history, steps })) return { ...history, steps }
  }
  return undefined
}
