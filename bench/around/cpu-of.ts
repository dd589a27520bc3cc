import type { Subject } from '../stand.ts'
import { type Chat, sendFor } from './load.ts'

export type Turn = {
  /** The same for every subject: one that had less time would meet less of the machine's other work. */
  readonly ms: number
  /** Not counted: during the turns of others, the caches of the core held their data. */
  readonly beginningMs: number
  readonly send?: typeof sendFor
}

const TURN: Turn = { ms: 500, beginningMs: 100 }

/** The subject's own processor time for each request, in µs. */
export async function cpuOf({ process, target }: Subject, chat: Chat, turn = TURN): Promise<number> {
  const { ms, beginningMs, send = sendFor } = turn
  await send(target, chat, beginningMs)
  const before = await process.consumption()
  const count = await send(target, chat, ms)
  const after = await process.consumption()
  return (after.cpuUs - before.cpuUs) / count
}
