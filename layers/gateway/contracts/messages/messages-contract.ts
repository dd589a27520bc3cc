import type { Contract } from '../contract.ts'
import { MessageBuilder } from './message-builder.ts'
import { messageError } from './message-error.ts'
import { MessageWriter } from './message-writer.ts'
import { readCountRequest, readMessagesRequest } from './messages-request.ts'

export const MESSAGES_CONTRACT: Contract = {
  readRequest: readMessagesRequest,
  readCount: readCountRequest,
  countBody: (tokens) => ({ input_tokens: tokens }),
  openStream: (head) => new MessageWriter(head),
  openWhole: (head) => new MessageBuilder(head),
  // A stream has ended with message_stop.
  lastFrame: '',
  errorBody: messageError,
}
