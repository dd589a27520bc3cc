import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import type { ChatCall } from '../provider.ts'

const MAX_EVENT_CHARS = 8 * 1024 * 1024

// Names, log probabilities, signatures and whatever else surrounds a token are worth kilobytes, not more.
const BYTES_PER_TOKEN = 8 * 1024
const SPARE_BYTES = 8 * 1024 * 1024

/** The data of each event. Text is decoded across chunk borders; an event, and all of them together, have bounds. */
export async function* readEvents(
  bytes: AsyncIterable<Buffer>,
  { chat, outputCap }: ChatCall,
): AsyncGenerator<string, void, undefined> {
  let budget = outputCap * chat.choices * BYTES_PER_TOKEN + SPARE_BYTES
  for await (const data of parseEvents(bytes)) {
    budget -= data.length
    if (budget < 0) {
      throw new UpstreamFailure('runaway', 'The upstream sent far more than the output limit it was given.')
    }
    yield data
  }
}

async function* parseEvents(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const ready: EventSourceMessage[] = []
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: (event) => ready.push(event), maxBufferSize: MAX_EVENT_CHARS })
  for await (const chunk of bytes) {
    feed(decoder.decode(chunk, { stream: true }))
    for (const event of ready.splice(0)) yield event.data
  }
  // An upstream that closes right after its last line still meant that line.
  feed(`${decoder.decode()}\n\n`)
  for (const event of ready.splice(0)) yield event.data

  function feed(text: string): void {
    try {
      parser.feed(text)
    } catch (cause) {
      const message = `The upstream sent an event of more than ${MAX_EVENT_CHARS} characters.`
      throw new UpstreamFailure('protocol', message, {}, { cause })
    }
  }
}
