import { parseChatRequest } from '../../wire/chat-request.ts'
import { CompletionBuilder } from '../../wire/completion.ts'
import { DONE_FRAME, errorEnvelope, FrameWriter } from '../../wire/frames.ts'
import type { Contract } from '../contract.ts'

/** OpenAI's Chat Completions. */
export const CHAT_CONTRACT: Contract = {
  readRequest: parseChatRequest,
  openStream: (head) => new FrameWriter(head),
  openWhole: (head) => new CompletionBuilder(head),
  lastFrame: DONE_FRAME,
  errorBody: errorEnvelope,
}
