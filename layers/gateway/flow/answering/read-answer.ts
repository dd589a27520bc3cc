import { type Answer, type ChatPart, isWhole } from '../../domain/chat/chat.ts'
import type { Tally } from './tally.ts'

/** An upstream is read for so long behind the end of the content that is used: its usage comes last. */
const USAGE_WAIT_MS = 5_000

type Take = (parts: readonly ChatPart[]) => void | Promise<void>

/**
 * Gives each batch of an answer to `take`, until the tally is closed: cut at its cap, too long, or faulty. From then on only
 * the usage is read, because the upstream bills the answer whatever becomes of it. Throws the fault.
 */
export function readAnswer(answer: Answer, tally: Tally, take: Take): void | Promise<void> {
  if (!isWhole(answer)) return readBatches(answer[Symbol.asyncIterator](), tally, take)
  for (const parts of answer) take(parts)
  if (tally.fault) throw tally.fault
}

async function readBatches(batches: AsyncIterator<readonly ChatPart[]>, tally: Tally, take: Take): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await batches.next()
      if (done) break
      const taking = take(value)
      if (taking) await taking
      if (!tally.isClosed) continue
      await readUsageOf(batches, tally)
      break
    }
  } finally {
    await batches.return?.()
  }
  if (tally.fault) throw tally.fault
}

/** Reads on for the usage, unless it has come with the end, or the upstream has said itself that this is no answer. */
export async function readUsageOf(batches: AsyncIterator<readonly ChatPart[]>, tally: Tally): Promise<void> {
  if (tally.fault?.reason === 'error_event' || tally.fault?.reason === 'rejected') return
  const before = tally.reported
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, USAGE_WAIT_MS, 'late')
  })
  try {
    while (tally.reported === before) {
      const reading = batches.next()
      reading.catch(() => {})
      const next = await Promise.race([reading, late])
      if (next === 'late' || next.done) return
      for (const part of next.value) if (part.kind === 'usage') tally.take(part)
    }
  } catch {
    // The upstream has broken off, and there is no usage.
  } finally {
    clearTimeout(timer)
  }
}
