import { expect } from '@jest/globals'
import type { ContractName } from '../../../layers/gateway/endpoints.ts'
import { HELLO } from '../../support/gateway.ts'

export type ToldError = { readonly message: string; readonly type: string; readonly code?: string | null }

/** The answer that a client got, streamed or whole. */
export type Told = {
  readonly text: string
  readonly error: ToldError | undefined
  /** True if a stream marked its end; a whole answer is done if it is a 200. */
  readonly done: boolean
  readonly comments: readonly string[]
}

/** The contracts that have words and are asked by conversation. */
export type Spoken = Extract<ContractName, 'chat' | 'responses' | 'messages'>

/** How a question is put in a contract, and its answer read, as the contract's own clients do it. */
type Speech = {
  readonly path: string
  /** The fields are chat's. */
  readonly ask: (fields: Readonly<Record<string, unknown>>) => object
  readonly readStream: (body: string) => Told
  readonly readWhole: (status: number, body: string) => Told
}

export const SPEECH: Readonly<Record<Spoken, Speech>> = {
  chat: {
    path: '/v1/chat/completions',
    ask: (fields) => ({ ...HELLO, ...fields }),
    readStream: readFrames,
    readWhole(status, body) {
      const answer = JSON.parse(body) as { error?: ToldError; choices?: { message: { content: string | null } }[] }
      const text = (answer.choices ?? []).map(({ message }) => message.content ?? '').join('')
      return whole(status, text, answer.error)
    },
  },
  responses: {
    path: '/v1/responses',
    ask: ({ max_tokens, ...fields }) => ({
      model: HELLO.model,
      input: 'Hello',
      ...fields,
      ...(max_tokens !== undefined && { max_output_tokens: max_tokens }),
    }),
    readStream(body) {
      const { events, comments } = readEvents(body)
      const errors = events.filter(({ type }) => type === 'error')
      expect(errors.length).toBeLessThanOrEqual(1)
      // Clients look for the one or for the other.
      expect(events.at(-1)?.type === 'response.failed').toBe(errors.length === 1)
      const text = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
      const done = events.at(-1)?.type === 'response.completed' || events.at(-1)?.type === 'response.incomplete'
      return { text: text.join(''), error: errors[0]?.error, done, comments }
    },
    readWhole(status, body) {
      type Item = { readonly content?: readonly { readonly text?: string }[] }
      const answer = JSON.parse(body) as { error?: ToldError | null; output?: readonly Item[] }
      const text = (answer.output ?? []).flatMap(({ content = [] }) => content.map(({ text = '' }) => text))
      return whole(status, text.join(''), answer.error ?? undefined)
    },
  },
  messages: {
    path: '/v1/messages',
    ask: (fields) => ({ ...HELLO, max_tokens: 1_000, ...fields }),
    readStream(body) {
      const { events, comments } = readEvents(body)
      const errors = events.filter(({ type }) => type === 'error')
      expect(errors.length).toBeLessThanOrEqual(1)
      if (errors.length > 0) expect(events.at(-1)).toBe(errors[0])
      const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta as object)
      const text = deltas.map((delta) => ('text' in delta ? delta.text : '')).join('')
      return { text, error: errors[0]?.error, done: events.at(-1)?.type === 'message_stop', comments }
    },
    readWhole(status, body) {
      const answer = JSON.parse(body) as { error?: ToldError; content?: readonly { readonly text?: string }[] }
      return whole(status, (answer.content ?? []).map(({ text = '' }) => text).join(''), answer.error)
    },
  },
}

/** The answer as a client of the contract reads it. */
export function readTold(contract: Spoken, { status, headers }: Response, body: string): Told & { isStream: boolean } {
  const { readStream, readWhole } = SPEECH[contract]
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false
  return { ...(isStream ? readStream(body) : readWhole(status, body)), isStream }
}

const whole = (status: number, text: string, error: ToldError | undefined): Told => {
  return { text, error, done: status === 200, comments: [] }
}

type Chunk = {
  readonly error?: ToldError
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[]
}

/** Every frame of a stream of chunks must be one line of data or one comment, and a blank line. */
export function readFrames(body: string): Told {
  const frames = framesOf(body, /^(data: .+|: .+)$/)
  const data = frames.filter((frame) => frame.startsWith('data: ')).map((frame) => frame.slice('data: '.length))
  const done = data.at(-1) === '[DONE]'
  const chunks = data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line) as Chunk)
  const failed = chunks.filter(({ error }) => error)
  expect(failed.length).toBeLessThanOrEqual(1)
  expect(failed[0]).toBe(chunks.findLast(({ error }) => error))
  return {
    text: chunks.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta.content ?? '')).join(''),
    error: failed[0]?.error,
    done,
    comments: commentsOf(frames),
  }
}

type Event = { readonly type: string; readonly delta?: unknown; readonly error?: ToldError }

/** Every frame of a stream of events must be one named event or one comment, and a blank line; one of Responses has an end. */
function readEvents(body: string): { readonly events: readonly Event[]; readonly comments: readonly string[] } {
  const frames = framesOf(body.replace(/data: \[DONE\]\n\n$/, ''), /^(event: \S+\ndata: .+|: .+)$/)
  const events = frames.flatMap((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.+)$/.exec(frame) ?? []
    if (data === undefined) return []
    const event = JSON.parse(data) as Event
    if (event.type !== name) throw new Error(`The event '${name}' says that it is '${event.type}'.`)
    return [event]
  })
  return { events, comments: commentsOf(frames) }
}

function framesOf(body: string, form: RegExp): readonly string[] {
  const frames = body.split('\n\n')
  expect(frames.pop()).toBe('')
  expect(frames.filter((frame) => !form.test(frame))).toEqual([])
  return frames
}

function commentsOf(frames: readonly string[]): readonly string[] {
  return frames.filter((frame) => frame.startsWith(': ')).map((frame) => frame.slice(2))
}
