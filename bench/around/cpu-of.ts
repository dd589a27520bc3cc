import type { Subject } from '../stand.ts'
import type { Model } from './answers.ts'
import { sendMany } from './load.ts'

type Requests = { readonly model: Model; readonly stream: boolean; readonly count: number }

/** The subject's own processor time for each request, in µs. */
export async function cpuOf({ process, target }: Subject, { count, ...chat }: Requests): Promise<number> {
  const before = await process.consumption()
  await sendMany(target, chat, count)
  const after = await process.consumption()
  return (after.cpuUs - before.cpuUs) / count
}
