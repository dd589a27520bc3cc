import type { Rows, Shape } from '../basics/shape.ts'
import * as is from '../basics/shape.ts'

export const MAX_MESSAGES = 10_000
const LONGEST_ADDRESS = 8_192

// The tables of a message of Chat Completions: every field that goes upstream, at every depth, is a row here.

/** A mark up to which a provider is asked to write the prompt to its cache. */
export const cacheMark: Shape = is.object({ type: is.word('ephemeral'), ttl: is.word('5m', '1h') })

/** OpenAI's mark for the same. */
export const cacheBreakpoint: Shape = is.object({ mode: is.word('explicit'), ttl: is.word('30m', '12h') })

/** An address that the upstream is to fetch, or the data themselves. */
export const address: Shape = is.shaped(is.text.schema, (sent, at) => {
  const fault = typeof sent === 'string' ? addressFault(sent) : undefined
  return fault === undefined ? is.text(sent, at) : at.forbid(fault)
})

/** A medium as a URL, or as base64 alone. Another text could be the path of a file on the provider's machine. */
export const data: Shape = is.shaped(is.text.schema, (sent, at) =>
  typeof sent === 'string' && !/[:.\\~]/.test(sent) ? sent : address(sent, at),
)

/** All callers of this gateway share the files at a provider, so no caller may name one. */
export const ofProvider = (instead: string) =>
  is.never(`names something that is stored at a provider, and this gateway stores nothing. ${instead}`)

const media = (rows: Rows = {}): Shape => {
  const other = is.object({ url: address, ...rows })
  return is.shaped({ anyOf: [address, other] }, (sent, at) => (typeof sent === 'string' ? address : other)(sent, at))
}

const marked = { cache_control: cacheMark, prompt_cache_breakpoint: cacheBreakpoint }
const TEXT = { text: is.text, ...marked }

export const DETAIL = is.word('auto', 'low', 'high', 'original')

const GIVEN_PARTS = {
  text: TEXT,
  image_url: { image_url: media({ detail: DETAIL }), ...marked },
  input_audio: { input_audio: is.object({ data, format: is.text }), ...marked },
  audio_url: { audio_url: media(), ...marked },
  video_url: { video_url: media(), ...marked },
  file: {
    file: is.object({ filename: is.text, file_data: data, file_id: ofProvider("Give the file in 'file_data'") }),
    ...marked,
  },
} satisfies Record<string, Rows>

/** Thoughts of Mistral's models are parts of their content. */
const SAID_PARTS = {
  text: TEXT,
  refusal: { refusal: is.text, ...marked },
  thinking: {
    thinking: is.textOr(is.list(is.object({ type: is.word('text'), text: is.text })), 'an array of texts'),
    closed: is.flag,
  },
} satisfies Record<string, Rows>

const content = (parts: Record<string, Rows>): Shape => {
  const shape = is.textOr(is.list(is.variants('type', parts)), 'an array of content parts')
  return is.shaped(shape.schema, (sent, at) => (sent === null ? null : shape(sent, at)))
}

export const GIVEN_CONTENT = content(GIVEN_PARTS)

const FUNCTION_CALL = is.object({ name: is.text, arguments: is.text, parsed_arguments: is.leftOut, ...marked })

/** Google's signature of a thought. Its models do not accept a call again without it. */
const EXTRA_CONTENT = is.object({ google: is.object({ thought_signature: is.text }) })

const TOOL_CALL = is.object({
  id: is.text,
  type: is.word('function', 'custom'),
  index: is.leftOut,
  function: FUNCTION_CALL,
  custom: is.object({ name: is.text, input: is.text }),
  extra_content: EXTRA_CONTENT,
  ...marked,
})

const THOUGHT = is.object({
  type: is.word('reasoning.text', 'reasoning.summary', 'reasoning.encrypted'),
  ...is.each(is.text, 'text', 'summary', 'data', 'signature', 'id', 'format'),
  index: is.scalar,
})

const common = { name: is.text, ...marked }

const ROLES = {
  system: { content: content({ text: TEXT }), ...common },
  developer: { content: content({ text: TEXT }), ...common },
  user: { content: GIVEN_CONTENT, ...common },
  tool: { content: GIVEN_CONTENT, tool_call_id: is.text, is_error: is.flag, ...common },
  function: { content: GIVEN_CONTENT, ...common },
  assistant: {
    content: content(SAID_PARTS),
    refusal: is.text,
    tool_calls: is.list(TOOL_CALL),
    function_call: FUNCTION_CALL,
    ...is.each(is.text, 'reasoning', 'reasoning_content'),
    reasoning_details: is.list(THOUGHT),
    ...is.each(is.flag, 'prefix', 'partial'),
    audio: ofProvider('Give the words that were spoken'),
    // Fields of answers that clients send back.
    ...is.each(is.leftOut, 'annotations', 'citations', 'images', 'parsed', 'executed_tools'),
    ...is.each(is.leftOut, 'provider_specific_fields', 'thinking_blocks'),
    ...common,
  },
} satisfies Record<string, Rows>

export const MESSAGES: Shape = is.list(is.variants('role', ROLES), MAX_MESSAGES)

function addressFault(address: string): string | undefined {
  if (/^data:/i.test(address)) return undefined
  if (!/^https:\/\//i.test(address) || address.length > LONGEST_ADDRESS || !URL.canParse(address)) {
    return `must be a data: URL, or an https address of at most ${LONGEST_ADDRESS} characters`
  }
  const { hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') return 'must be an https address without a name and a password'
  return isPublicName(hostname) ? undefined : 'must be an https address with the name of a public host'
}

/** An upstream inside the operator's network must not be sent to its neighbours. */
function isPublicName(host: string): boolean {
  return /\.[a-z][a-z0-9-]*\.?$/i.test(host) && !/(?:^|\.)(?:localhost|local|internal|home|lan|arpa)\.?$/i.test(host)
}
