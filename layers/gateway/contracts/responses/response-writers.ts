import type { JsonObject } from '../../domain/basics/json-object.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { AnswerBuilder, AnswerHead, StreamWriter } from '../contract.ts'
import { Output } from './output.ts'
import { inOwnWords } from './own-words.ts'
import { endedState, responseFor, shownError } from './response-object.ts'

export function responseBuilder(head: AnswerHead): AnswerBuilder {
  const show = responseFor(head)
  const output = new Output(head, () => {})
  return {
    get chars() {
      return output.chars
    },
    add: (part) => output.add(part),
    cut: () => output.end('max_output_tokens'),
    build(usage) {
      output.end('completed')
      return show(endedState(output, usage))
    },
  }
}

/** The events at the end repeat the whole text, so all of it is kept. No model writes that much. */
const MOST_KEPT_CHARS = 8 * 1024 * 1024

export function responseStream(head: AnswerHead): StreamWriter {
  const show = responseFor(head)
  const output = new Output(head, emit)
  let frames = ''
  let next = 0
  let closing: string | undefined
  return {
    choice(part) {
      begin()
      output.add(part)
      if (output.chars > MOST_KEPT_CHARS) {
        throw new UpstreamFailure('runaway', `The upstream sent more than ${MOST_KEPT_CHARS} characters.`)
      }
      return taken()
    },
    /** May be called again with another cost. */
    end(usage) {
      closing ??= close()
      const state = endedState(output, usage)
      return closing + frame(`response.${state.status}`, next, { response: show(state) })
    },
    /** Some clients look for the one event, some for the other. */
    error(error) {
      begin()
      const { kind, message, type, param, code } = inOwnWords(error)
      emit('error', { code, message, param, error: { type, code, message, param } })
      const failed = { status: 'failed', output: output.shown, error: shownError(kind, message) } as const
      emit('response.failed', { response: show(failed) })
      return taken()
    },
  }

  function begin(): void {
    if (next > 0) return
    const response = show({ status: 'in_progress', output: [] })
    emit('response.created', { response })
    emit('response.in_progress', { response })
  }

  function close(): string {
    begin()
    output.end('completed')
    return taken()
  }

  function emit(type: string, fields: JsonObject): void {
    frames += frame(type, next, fields)
    next += 1
  }

  function taken(): string {
    const emitted = frames
    frames = ''
    return emitted
  }
}

function frame(type: string, sequence_number: number, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
}
