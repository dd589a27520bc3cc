import { DONE_FRAME, errorEnvelope } from '../../wire/chat/frames.ts'
import { CompletionBuilder } from '../completion-builder.ts'
import type { Contract } from '../contract.ts'
import { parseChatRequest } from './chat-request.ts'
import { ChunkWriter } from './chunk-writer.ts'

export const CHAT_CONTRACT: Contract = {
  readRequest: parseChatRequest,
  openStream: (head) => new ChunkWriter(head),
  openWhole: (head) => new CompletionBuilder(head),
  lastFrame: DONE_FRAME,
  errorBody: errorEnvelope,
}
