import { expect } from '@jest/globals'
import { EVENT, type MessageEvent } from './message-schema.ts'

type Events = { readonly events: readonly MessageEvent[]; readonly comments: readonly string[] }

/** The events of a stream. Each must be as Anthropic publishes it, and in its place. */
export function readEvents(body: string): Events {
  const frames = body.split('\n\n')
  expect(frames.pop()).toBe('')
  const comments = frames.filter((frame) => frame.startsWith(': ')).map((frame) => frame.slice(2))
  const events = frames.filter((frame) => !frame.startsWith(': ')).map(readFrame)
  expectInOrder(events)
  return { events, comments }
}

function readFrame(frame: string): MessageEvent {
  const [, name, data = ''] = /^event: (\w+)\ndata: (.+)$/.exec(frame) ?? []
  const event = EVENT.parse(JSON.parse(data))
  expect(event.type).toBe(name)
  return event
}

/** A message begins once and ends once, its blocks are numbered as they come, and none is spoken of before or after itself. */
function expectInOrder(events: readonly MessageEvent[]): void {
  const open = new Set<number>()
  let next = 0
  const said = events.map(({ type }) => type)
  const failed = said.at(-1) === 'error'
  if (said[0] !== 'error') expect(said.slice(0, 2)).toEqual(['message_start', 'ping'])
  expect(said.filter((type) => type === 'message_start').length).toBeLessThanOrEqual(1)
  expect(said.filter((type) => type === 'error').length).toBe(failed ? 1 : 0)
  for (const event of events) {
    if (event.type === 'content_block_start') {
      expect(event.index).toBe(next)
      next += 1
      open.add(event.index)
    }
    if (event.type === 'content_block_delta') expect(open).toContain(event.index)
    if (event.type === 'content_block_stop') expect(open.delete(event.index)).toBe(true)
    if (event.type === 'message_delta') expect(open.size).toBe(0)
  }
  if (!failed) expect(said.slice(-2)).toEqual(['message_delta', 'message_stop'])
}
