import { Readable } from 'node:stream'
import { requestContractOf } from '../../contracts/contracts.ts'
import { costFrame, KEEP_ALIVE_FRAME } from '../../wire/chat/frames.ts'
import type { PricedChat, Replay } from '../request.ts'

/** The first answer once more, as it was, at no cost. */
export function replayAnswer({ text }: Replay, { endpoint, priced }: PricedChat, headerPrefix: string): Readable {
  const { lastFrame } = requestContractOf(endpoint)
  const frames = priced.chat.stream ? [KEEP_ALIVE_FRAME, text, costFrame(headerPrefix, 0n), lastFrame] : [text]
  return Readable.from([Buffer.from(frames.join(''))])
}
