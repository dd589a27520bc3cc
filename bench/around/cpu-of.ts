import type { Subject } from '../stand.ts'
import { type Chat, sendFor } from './load.ts'

/** As long for whoever is measured: one that had less time would meet less of what else the machine does. */
const TURN_MS = 500
/** Not counted: while others had their turn, the caches of its core were theirs. */
const BEGINNING_MS = 100

/** The subject's own processor time for each request, in µs. */
export async function cpuOf({ process, target }: Subject, chat: Chat, send = sendFor): Promise<number> {
  await send(target, chat, BEGINNING_MS)
  const before = await process.consumption()
  const count = await send(target, chat, TURN_MS)
  const after = await process.consumption()
  return (after.cpuUs - before.cpuUs) / count
}
