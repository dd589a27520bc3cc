import { errorEnvelope } from '../../wire/chat/frames.ts'
import type { Contract } from '../contract.ts'
import { inOwnWords } from './own-words.ts'
import { readRequest } from './read-request.ts'
import { ResponseBuilder } from './response-builder.ts'
import { ResponseStream } from './response-stream.ts'

/** OpenAI's Responses, without anything that is stored. */
export const RESPONSES_CONTRACT: Contract = {
  readRequest,
  openStream: (head) => new ResponseStream(head),
  openWhole: (head) => new ResponseBuilder(head),
  // The last event marks the end by itself.
  lastFrame: '',
  errorBody: (error) => errorEnvelope(inOwnWords(error)),
}
