import { errorEnvelope } from '../../wire/frames.ts'
import type { Door } from '../contract.ts'
import { readEmbeddingRequest } from './embedding-request.ts'

/** OpenAI's Embeddings, which are never streamed. */
export const EMBEDDINGS_DOOR: Door = { readRequest: readEmbeddingRequest, lastFrame: '', errorBody: errorEnvelope }
