import {
  flag,
  leftOut,
  list,
  never,
  object,
  type Rows,
  type Shape,
  scalar,
  shaped,
  text,
  textOr,
  variants,
  word,
} from '../basics/shape.ts'

export const MAX_MESSAGES = 10_000
const LONGEST_ADDRESS = 8_192

// The tables of a message of Chat Completions: every field that goes upstream, at every depth, is a row here.

/** A mark up to which a provider is asked to write the prompt to its cache. */
export const cacheMark: Shape = object({ type: word('ephemeral'), ttl: word('5m', '1h') })

/** An address that the upstream is to fetch, or the data themselves. */
export const address: Shape = shaped(text.schema, (sent, at) => {
  const fault = typeof sent === 'string' ? addressFault(sent) : undefined
  return fault === undefined ? text(sent, at) : at.forbid(fault)
})

/** A medium as a URL, or as base64 alone. Another text could be the path of a file on the provider's machine. */
export const data: Shape = shaped(text.schema, (sent, at) =>
  typeof sent === 'string' && !/[:.\\~]/.test(sent) ? sent : address(sent, at),
)

/** All callers of this gateway share the files at a provider, so no caller may name one. */
export const ofProvider = (instead: string) =>
  never(`names something that is stored at a provider, and this gateway stores nothing. ${instead}`)

const media = (rows: Rows = {}): Shape => {
  const other = object({ url: address, ...rows })
  return shaped({ anyOf: [address, other] }, (sent, at) => (typeof sent === 'string' ? address : other)(sent, at))
}

const marked = { cache_control: cacheMark }
const TEXT = { text, ...marked }

export const DETAIL = word('auto', 'low', 'high', 'original')

const GIVEN_PARTS = {
  text: TEXT,
  image_url: { image_url: media({ detail: DETAIL }), ...marked },
  input_audio: { input_audio: object({ data, format: text }), ...marked },
  audio_url: { audio_url: media(), ...marked },
  video_url: { video_url: media(), ...marked },
  file: {
    file: object({ filename: text, file_data: data, file_id: ofProvider("Give the file in 'file_data'") }),
    ...marked,
  },
} satisfies Record<string, Rows>

/** Thoughts of Mistral's models are parts of their content. */
const SAID_PARTS = {
  text: TEXT,
  refusal: { refusal: text, ...marked },
  thinking: { thinking: textOr(list(object({ type: word('text'), text })), 'an array of texts'), closed: flag },
} satisfies Record<string, Rows>

const content = (parts: Record<string, Rows>): Shape => {
  const shape = textOr(list(variants('type', parts)), 'an array of content parts')
  return shaped(shape.schema, (sent, at) => (sent === null ? null : shape(sent, at)))
}

export const GIVEN_CONTENT = content(GIVEN_PARTS)

const FUNCTION_CALL = object({ name: text, arguments: text, parsed_arguments: leftOut, ...marked })

/** Google's signature of a thought. Its models do not accept a call again without it. */
const EXTRA_CONTENT = object({ google: object({ thought_signature: text }) })

const TOOL_CALL = object({
  id: text,
  type: word('function', 'custom'),
  index: leftOut,
  function: FUNCTION_CALL,
  custom: object({ name: text, input: text }),
  extra_content: EXTRA_CONTENT,
  ...marked,
})

const THOUGHT = object({
  type: word('reasoning.text', 'reasoning.summary', 'reasoning.encrypted'),
  text,
  summary: text,
  data: text,
  signature: text,
  id: text,
  format: text,
  index: scalar,
})

const common = { name: text, ...marked }

const ROLES = {
  system: { content: content({ text: TEXT }), ...common },
  developer: { content: content({ text: TEXT }), ...common },
  user: { content: GIVEN_CONTENT, ...common },
  tool: { content: GIVEN_CONTENT, tool_call_id: text, is_error: flag, ...common },
  function: { content: GIVEN_CONTENT, ...common },
  assistant: {
    content: content(SAID_PARTS),
    refusal: text,
    tool_calls: list(TOOL_CALL),
    function_call: FUNCTION_CALL,
    reasoning: text,
    reasoning_content: text,
    reasoning_details: list(THOUGHT),
    prefix: flag,
    partial: flag,
    audio: ofProvider('Give the words that were spoken'),
    // Fields of answers that clients send back.
    annotations: leftOut,
    citations: leftOut,
    images: leftOut,
    parsed: leftOut,
    executed_tools: leftOut,
    provider_specific_fields: leftOut,
    thinking_blocks: leftOut,
    ...common,
  },
} satisfies Record<string, Rows>

export const MESSAGES: Shape = list(variants('role', ROLES), MAX_MESSAGES)

/** The reason why an upstream may not be given this address of a medium; undefined if it may. */
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
