import { Readable } from 'node:stream'
import type { RequestContract } from '../../contracts/contract.ts'
import type { Replay } from '../../request.ts'
import { costFrame, KEEP_ALIVE_FRAME } from '../../wire/frames.ts'

/** The first answer again, unchanged, at no cost. */
export function replayAnswer(
  { text }: Replay,
  { lastFrame }: RequestContract,
  isStream: boolean,
  headerPrefix: string,
): Readable {
  const frames = isStream ? [KEEP_ALIVE_FRAME, text, costFrame(headerPrefix, 0n), lastFrame] : [text]
  return Readable.from([Buffer.from(frames.join(''))])
}
