import { Readable } from 'node:stream'
import type { Replay } from '../../request.ts'
import { costFrame, DONE_FRAME, KEEP_ALIVE_FRAME } from '../../wire/frames.ts'

/** The first answer once more, as it was, at no cost. */
export function replayAnswer({ text }: Replay, isStream: boolean, headerPrefix: string): Readable {
  const frames = isStream ? [KEEP_ALIVE_FRAME, text, costFrame(headerPrefix, 0n), DONE_FRAME] : [text]
  return Readable.from([Buffer.from(frames.join(''))])
}
