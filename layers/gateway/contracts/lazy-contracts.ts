import { DONE_FRAME, errorEnvelope } from '../wire/chat/frames.ts'
import { readCompletionRequest } from './completions/completion-request.ts'
import { TextBuilder, textFrames } from './completions/text-answer.ts'
import type { Contract, RequestContract } from './contract.ts'
import { readEmbeddingRequest, requireRoom } from './embeddings/embeddings.ts'
import { messageError } from './messages/message-head.ts'
import { messageBuilder, messageWriter } from './messages/message-writers.ts'
import { readCountRequest, readMessagesRequest } from './messages/messages-request.ts'
import { compactionBuilder, readCompaction } from './responses/compaction.ts'
import { inOwnWords } from './responses/own-words.ts'
import { countBody, readCount } from './responses/read-count.ts'
import { readRequest } from './responses/read-request.ts'
import { responseBuilder, responseStream } from './responses/response-writers.ts'

// A file of its own beside chat's code: loaded with the first call in one of these contracts. The events of Messages
// mark the end by themselves.

const responses: Contract = {
  readRequest,
  readCount,
  readCompaction,
  countBody,
  openStream: responseStream,
  openWhole: (head) => (head.chat.compacts ? compactionBuilder(head) : responseBuilder(head)),
  lastFrame: DONE_FRAME,
  errorBody: (error) => errorEnvelope(inOwnWords(error)),
}

const messages: Contract = {
  readRequest: readMessagesRequest,
  readCount: readCountRequest,
  countBody: (tokens) => ({ input_tokens: tokens }),
  openStream: messageWriter,
  openWhole: messageBuilder,
  lastFrame: '',
  errorBody: messageError,
}

const completions: Contract = {
  readRequest: readCompletionRequest,
  openStream: textFrames,
  openWhole: (head) => new TextBuilder(head),
  lastFrame: DONE_FRAME,
  errorBody: errorEnvelope,
}

const embeddings: RequestContract = {
  readRequest: readEmbeddingRequest,
  requireRoom,
  lastFrame: '',
  errorBody: errorEnvelope,
}

export const LAZY_CONTRACTS = { responses, messages, completions, embeddings }
