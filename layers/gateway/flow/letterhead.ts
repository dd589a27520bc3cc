import type { ChatWork } from '../domain/chat-work.ts'
import type { Letterhead } from '../wire/completion.ts'
import type { Passage } from './passage.ts'

/** The completion's id is the request's, so that either finds the row. */
export function letterheadOf(passage: Passage, work: ChatWork): Letterhead {
  return {
    id: passage.requestId.replace('req_', 'chatcmpl-'),
    created: Math.floor(passage.nowMs / 1000),
    model: work.model.id,
  }
}
