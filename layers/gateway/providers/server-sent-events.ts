import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { UpstreamFailure } from '../domain/upstream-failure.ts'

const MAX_EVENT_CHARS = 8 * 1024 * 1024

/** The data of each event. Text is decoded across chunk borders, and an event has a bounded size. */
export async function* readEvents(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
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
