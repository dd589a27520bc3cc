import { Readable } from 'node:stream'
import { costFrame, DONE_FRAME } from '../wire/frames.ts'
import type { AssessedWork, Replay } from './passage.ts'

/** The first answer once more, as it was, at no cost. */
export function answerAgain({ text }: Replay, { chat }: AssessedWork, headerPrefix: string): Readable {
  const frames = chat.request.stream ? [text, costFrame(headerPrefix, 0n), DONE_FRAME] : [text]
  return Readable.from([Buffer.from(frames.join(''))])
}
