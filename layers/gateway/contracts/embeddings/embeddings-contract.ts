import { errorEnvelope } from '../../wire/chat/frames.ts'
import type { RequestContract } from '../contract.ts'
import { readEmbeddingRequest } from './embedding-request.ts'

/** OpenAI's Embeddings, which are never streamed. */
export const EMBEDDINGS_CONTRACT: RequestContract = {
  readRequest: readEmbeddingRequest,
  lastFrame: '',
  errorBody: errorEnvelope,
}
