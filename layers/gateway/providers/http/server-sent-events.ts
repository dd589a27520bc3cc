import { createParser } from 'eventsource-parser'
import type { ChatPart } from '../../domain/chat.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import type { ChatCall } from '../provider.ts'
import type { Reply } from './post.ts'

const MAX_EVENT_CHARS = 8 * 1024 * 1024

// Names, log probabilities, signatures and whatever else surrounds a token are worth kilobytes, not more.
const BYTES_PER_TOKEN = 8 * 1024
const SPARE_BYTES = 8 * 1024 * 1024

/** Understands the events of one answer in some dialect. */
export type EventReader = {
  /** Whether the answer has ended, so that no more of it need be read. */
  readonly isWhole: boolean
  /** Adds the parts that the data of one event brings. */
  read(data: string, parts: ChatPart[]): void
  /** The upstream has closed. Throws if the answer was not whole. */
  end(): void
}

/**
 * The parts of a stream, in batches: one for all that one read from the upstream brought, and no promise in between. Text
 * is decoded across the borders of reads; an event, and all of them together, have bounds.
 */
export async function* readEvents(
  { body }: Reply,
  { chat, outputCap }: ChatCall,
  answer: EventReader,
): AsyncGenerator<readonly ChatPart[], void, undefined> {
  let budget = outputCap * chat.choices * BYTES_PER_TOKEN + SPARE_BYTES
  let parts: ChatPart[] = []
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ data }) => take(data), maxBufferSize: MAX_EVENT_CHARS })
  try {
    while (!answer.isWhole) {
      const chunk = await body.read()
      parts = []
      try {
        // An upstream that closes right after its last line still meant that line.
        parser.feed(chunk ? decoder.decode(chunk, { stream: true }) : `${decoder.decode()}\n\n`)
      } catch (error) {
        // The words before a fault count as said.
        if (parts.length > 0) yield parts
        throw error instanceof UpstreamFailure ? error : tooLong(error)
      }
      if (parts.length > 0) yield parts
      if (!chunk) break
    }
    if (!answer.isWhole) answer.end()
  } finally {
    body.close()
  }

  function take(data: string): void {
    if (answer.isWhole) return
    budget -= data.length
    if (budget < 0) {
      throw new UpstreamFailure('runaway', 'The upstream sent far more than the output limit it was given.')
    }
    answer.read(data, parts)
  }
}

function tooLong(cause: unknown): UpstreamFailure {
  const message = `The upstream sent an event of more than ${MAX_EVENT_CHARS} characters.`
  return new UpstreamFailure('protocol', message, {}, { cause })
}
