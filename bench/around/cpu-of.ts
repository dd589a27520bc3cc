import type { Subject } from '../stand.ts'
import type { Model } from './answers.ts'
import { sendMany } from './load.ts'

type Requests = { readonly model: Model; readonly stream: boolean; readonly count: number }

/**
 * The subject's own processor time for each request, in µs. The first fifth is not counted: while others had their turn,
 * the caches of its core were theirs.
 */
export async function cpuOf({ process, target }: Subject, { count, ...chat }: Requests): Promise<number> {
  await sendMany(target, chat, Math.ceil(count / 5))
  const before = await process.consumption()
  await sendMany(target, chat, count)
  const after = await process.consumption()
  return (after.cpuUs - before.cpuUs) / count
}
