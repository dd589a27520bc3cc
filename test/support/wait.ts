import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  for (const start = Date.now(); Date.now() - start < withinMs; await sleep(10)) {
    if (await isSo()) return
  }
  throw new Error(`It was not so within ${withinMs} ms.`)
}
