import { expect } from '@jest/globals'
import { type StreamEvent, streamEvent } from '../../sdk/support/answers.ts'
import type { TestGateway } from '../../support/gateway.ts'

export const HELLO = { model: 'test-model', input: 'Hello' }

export function ask(gateway: TestGateway, secret: string, body: unknown, headers?: Record<string, string>) {
  return gateway.post(secret, body, headers, '/v1/responses')
}

/** The events of a stream, each as OpenAI publishes it, named as in its data and numbered without a gap; then [DONE], if it has not failed. */
export function eventsIn(stream: string): StreamEvent[] {
  const frames = stream.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'))
  const isDone = frames.at(-1) === 'data: [DONE]'
  const events = frames.slice(0, isDone ? -1 : undefined).map((frame, index) => {
    const [name, data, ...more] = frame.split('\n')
    expect(more).toEqual([])
    const event = streamEvent.parse(JSON.parse(data?.replace(/^data: /, '') ?? ''))
    expect(name).toBe(`event: ${event.type}`)
    expect(event.sequence_number).toBe(index)
    return event
  })
  expect(isDone).toBe(/^response\.(completed|incomplete)$/.test(events.at(-1)?.type ?? ''))
  return events
}

type Item = Record<string, unknown>

/** The items that a client builds from the events alone, without those that repeat it. */
export function gatherItems(events: readonly StreamEvent[]): Item[] {
  const items: Item[] = []
  for (const event of events) {
    switch (event.type) {
      case 'response.output_item.added':
        items[event.output_index] = structuredClone(event.item)
        break
      case 'response.content_part.added':
        partsOf(items[event.output_index], 'content')[event.content_index] = { ...event.part }
        break
      case 'response.reasoning_summary_part.added':
        partsOf(items[event.output_index], 'summary')[event.summary_index] = { ...event.part }
        break
      case 'response.output_text.delta':
        grow(partsOf(items[event.output_index], 'content')[event.content_index], 'text', event.delta)
        break
      case 'response.refusal.delta':
        grow(partsOf(items[event.output_index], 'content')[event.content_index], 'refusal', event.delta)
        break
      case 'response.reasoning_summary_text.delta':
        grow(partsOf(items[event.output_index], 'summary')[event.summary_index], 'text', event.delta)
        break
      case 'response.function_call_arguments.delta':
        grow(items[event.output_index], 'arguments', event.delta)
        break
      case 'response.custom_tool_call_input.delta':
        grow(items[event.output_index], 'input', event.delta)
        break
    }
  }
  return items
}

/** Every event that repeats what was said says the same as the pieces did; the answer at the end does, too. */
export function requireConsistent(events: readonly StreamEvent[]): void {
  const items = gatherItems(events)
  const last = events.at(-1)
  const whole = last && 'response' in last ? (last.response.output as Item[]) : []
  expect(whole.map(said)).toEqual(items.map(said))
  for (const event of events) {
    if (event.type === 'response.output_item.done') expect(event.item).toEqual(whole[event.output_index])
    if (event.type === 'response.output_text.done') {
      expect(partsOf(whole[event.output_index], 'content')[event.content_index]?.text).toBe(event.text)
    }
    if (event.type === 'response.content_part.done') {
      expect(partsOf(whole[event.output_index], 'content')[event.content_index]).toEqual(event.part)
    }
    if (event.type === 'response.reasoning_summary_part.done') {
      expect(partsOf(whole[event.output_index], 'summary')[event.summary_index]).toEqual(event.part)
    }
    if (event.type === 'response.function_call_arguments.done') {
      expect(whole[event.output_index]?.arguments).toBe(event.arguments)
    }
    if (event.type === 'response.custom_tool_call_input.done') {
      expect(whole[event.output_index]?.input).toBe(event.input)
    }
  }
}

function said({ status: _, encrypted_content: __, content, ...item }: Item): Item {
  const parts = Array.isArray(content) && { content: content.map(({ logprobs: _, ...part }: Item) => part) }
  return { ...item, ...parts }
}

function partsOf(item: Item | undefined, name: 'content' | 'summary'): Item[] {
  return (item?.[name] ?? []) as Item[]
}

function grow(item: Item | undefined, name: string, delta: string): void {
  if (item) item[name] = `${item[name] ?? ''}${delta}`
}
