import { chunk, DONE, sse, USAGE, usageChunk } from '../../support/upstream.ts'

export const WEATHER_CALL = {
  id: 'call_weather',
  type: 'function' as const,
  function: { name: 'get_weather', arguments: '{"city":"Ulm"}' },
}
export const TIME_CALL = {
  id: 'call_time',
  type: 'function' as const,
  function: { name: 'get_time', arguments: '{"zone":"CET"}' },
}

/** Two calls at once, each begun and then continued in pieces, interleaved, as OpenAI streams them. */
export const TWO_CALLS_IN_PIECES: readonly string[] = [
  chunk({ role: 'assistant', content: null, tool_calls: [begin(0, WEATHER_CALL)] }),
  chunk({ tool_calls: [more(0, '{"ci')] }),
  chunk({ tool_calls: [begin(1, TIME_CALL)] }),
  chunk({ tool_calls: [more(0, 'ty":"Ulm"}'), more(1, '{"zo')] }),
  chunk({ tool_calls: [more(1, 'ne":"CET"}')] }),
  chunk({}, 'tool_calls'),
  usageChunk(USAGE),
  DONE,
]

export const askForBothTools = sse(TWO_CALLS_IN_PIECES)

function begin(index: number, { id, type, function: { name } }: typeof WEATHER_CALL) {
  return { index, id, type, function: { name, arguments: '' } }
}

function more(index: number, piece: string) {
  return { index, function: { arguments: piece } }
}
