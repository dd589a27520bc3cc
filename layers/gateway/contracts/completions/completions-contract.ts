import { DONE_FRAME, errorEnvelope } from '../../wire/chat/frames.ts'
import type { Contract } from '../contract.ts'
import { readCompletionRequest } from './completion-request.ts'
import { TextBuilder } from './text-builder.ts'
import { TextFrames } from './text-frames.ts'

/** OpenAI's Completions, which are older than chat. */
export const COMPLETIONS_CONTRACT: Contract = {
  readRequest: readCompletionRequest,
  openStream: (head) => new TextFrames(head),
  openWhole: (head) => new TextBuilder(head),
  lastFrame: DONE_FRAME,
  errorBody: errorEnvelope,
}
