import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import type { Read, Rows, Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { address, cacheBreakpoint, DETAIL, data, ofProvider } from '../../wire/chat/message-fields.ts'
import { ENVIRONMENT, LOADED_TOOLS, NAME } from './tool-fields.ts'

// The tables of the items of Responses: every field that goes upstream in its format, at every depth, is a row here.

const STRING = is.needed(is.text, 'a string')
const nonEmpty = (shape: Shape) => is.needed(shape, 'a string that is not empty', isText)

const marked = { prompt_cache_breakpoint: cacheBreakpoint }
const FILE = is.object({
  ...is.each(is.text, 'type', 'filename'),
  file_data: data,
  file_url: address,
  detail: is.native(DETAIL),
  file_id: ofProvider("Give the file in 'file_data'"),
  ...marked,
})
const GIVEN = {
  input_text: { text: STRING, ...marked },
  input_image: {
    image_url: nonEmpty(address),
    detail: DETAIL,
    file_id: ofProvider("Give the picture in 'image_url'"),
    ...marked,
  },
  input_file: is.shaped(FILE.schema, (sent, at) => {
    // One file is held for, so of two only the data go upstream.
    const { file_url, ...built } = FILE(sent, at) as JsonObject
    return built.file_data === undefined && file_url !== undefined ? { ...built, file_url } : built
  }),
  input_audio: { input_audio: is.needed(is.object({ data, format: is.text }), 'an object') },
} satisfies Record<string, Rows | Shape>

/** The fields that answers have beside their text are not read again. */
const SAID = {
  output_text: { text: STRING, annotations: is.leftOut, logprobs: is.leftOut },
  input_text: { text: STRING, ...marked },
  refusal: { refusal: STRING },
} satisfies Record<string, Rows>

const partsOf = (kinds: Record<string, Rows | Shape>): Shape =>
  is.needed(
    is.textOr(is.list(is.variants('type', kinds)), 'an array of content parts'),
    'a string or an array of content parts',
  )
export const CONTENT = partsOf(GIVEN)

/** An upstream that stores nothing knows no ids and no states of items. */
const stored = { id: is.leftOut, status: is.leftOut }
const kept = { id: is.text, status: is.text }
export const CALLER = is.object({ type: is.word('direct', 'program'), caller_id: is.text })
const caller = { caller: CALLER }
const THOUGHT = is.list(is.object({ type: is.word('summary_text', 'reasoning_text'), text: is.text }))
const CALL = { call_id: NAME, name: NAME, namespace: is.text, async: is.native(is.flag), ...caller, ...stored }

const ROLES = ['user', 'assistant', 'system', 'developer']
const ROLE = is.needed(is.word(...ROLES), ROLES)
const PHASE = is.native(is.word('commentary', 'final_answer'))
const messageOf = (content: Shape) =>
  is.object({ type: is.word('message'), role: ROLE, content, phase: PHASE, ...stored })
const said = messageOf(partsOf(SAID))
const given = messageOf(CONTENT)
const message: Shape = is.shaped({ anyOf: [said, given] }, (sent, at) =>
  ((sent as { role?: unknown }).role === 'assistant' ? said : given)(sent, at),
)

const POINT = is.object({ x: is.scalar, y: is.scalar })
const ACTION = is.object({
  ...is.each(is.text, 'type', 'button', 'text'),
  ...is.each(is.scalar, 'x', 'y', 'scroll_x', 'scroll_y'),
  keys: is.list(is.text),
  path: is.list(POINT),
})
const CHECKS = is.list(is.object(is.each(is.text, 'id', 'code', 'message')))
const COMMAND = is.object({
  type: is.word('exec'),
  ...is.each(is.list(is.text), 'command', 'commands'),
  ...is.each(is.integer(0), 'timeout_ms', 'max_output_length'),
  ...is.each(is.text, 'user', 'working_directory'),
  env: is.record(is.text, 1000),
})
const PATCH = { path: STRING, diff: is.text }

/** Items of tools that the client runs. Providers of other API formats get them as calls of functions and their results. */
const OF_CLIENT = {
  apply_patch_call: {
    call_id: NAME,
    operation: is.variants('type', { create_file: PATCH, update_file: PATCH, delete_file: PATCH }),
    ...caller,
    ...kept,
  },
  apply_patch_call_output: { call_id: NAME, output: is.text, ...caller, ...kept },
  shell_call: { call_id: NAME, action: COMMAND, environment: ENVIRONMENT, ...caller, ...kept },
  shell_call_output: {
    call_id: NAME,
    output: is.list(
      is.object({
        ...is.each(is.text, 'stdout', 'stderr', 'created_by'),
        outcome: is.object({ type: is.word('exit', 'timeout'), exit_code: is.scalar }),
      }),
    ),
    max_output_length: is.integer(0),
    ...caller,
    ...kept,
  },
  local_shell_call: { call_id: NAME, action: COMMAND, ...kept },
  local_shell_call_output: { call_id: is.text, output: is.text, ...kept },
  computer_call: {
    call_id: NAME,
    action: ACTION,
    actions: is.list(ACTION),
    pending_safety_checks: CHECKS,
    ...kept,
  },
  computer_call_output: {
    call_id: NAME,
    output: is.object({ type: is.text, image_url: address, file_id: ofProvider("Give the picture in 'image_url'") }),
    acknowledged_safety_checks: CHECKS,
    ...kept,
  },
  tool_search_call: { call_id: is.text, execution: is.word('server', 'client'), arguments: is.json, ...kept },
  tool_search_output: { call_id: is.text, execution: is.word('server', 'client'), tools: LOADED_TOOLS, ...kept },
  additional_tools: { role: is.text, tools: LOADED_TOOLS, id: is.text },
} satisfies Record<string, Rows>

const TOOL_OF_SERVER = is.object({
  ...is.each(is.text, 'name', 'description'),
  ...is.each(is.json, 'input_schema', 'annotations'),
})

/** Items of tools that OpenAI runs, and others that no other API format has. */
const NATIVE = is.nativeKinds({
  web_search_call: {
    action: is.object({
      ...is.each(is.text, 'type', 'query', 'pattern'),
      url: is.text,
      queries: is.list(is.text),
      sources: is.leftOut,
    }),
    ...kept,
  },
  file_search_call: {
    queries: is.list(is.text),
    results: is.list(
      is.object({
        ...is.each(is.text, 'filename', 'text'),
        score: is.scalar,
        attributes: is.record(is.scalar, 64),
        file_id: is.leftOut,
      }),
    ),
    ...kept,
  },
  image_generation_call: {
    ...is.each(is.text, 'result', 'action', 'background', 'output_format', 'quality', 'revised_prompt', 'size'),
    ...is.each(is.leftOut, 'error', 'svg_usage'),
    ...kept,
  },
  mcp_list_tools: { server_label: is.text, tools: is.list(TOOL_OF_SERVER), error: is.text, id: is.text },
  mcp_approval_request: is.each(is.text, 'arguments', 'name', 'server_label', 'id'),
  mcp_approval_response: { ...is.each(is.text, 'approval_request_id', 'reason', 'id'), approve: is.flag },
  mcp_call: {
    ...is.each(is.text, 'arguments', 'name', 'server_label', 'approval_request_id', 'output'),
    error: is.object({ ...is.each(is.text, 'type', 'message'), code: is.scalar, content: is.json }),
    ...kept,
  },
  configuration_update: {
    reasoning: is.object({ effort: is.text, summary: is.text, context: is.text, mode: is.text }),
    text: is.object({ verbosity: is.text, format: is.jsonObject }),
    id: is.text,
  },
  program: is.each(is.text, 'call_id', 'code', 'fingerprint', 'id'),
  program_output: { ...is.each(is.text, 'call_id', 'result'), ...kept },
})

const NO_REFERENCE =
  "refers to an item of an earlier answer, and this gateway stores none. Send the item itself; clients do so with 'store': false (in the AI SDK: providerOptions: { openai: { store: false } })"

const reference: Shape = is.shaped({ ...is.treated('never'), why: NO_REFERENCE }, (_, at) => at.forbid(NO_REFERENCE))

const ITEMS = {
  message,
  reasoning: { id: is.text, summary: THOUGHT, content: THOUGHT, encrypted_content: is.text, status: is.leftOut },
  function_call: { arguments: STRING, ...CALL },
  function_call_output: {
    call_id: NAME,
    output: CONTENT,
    ...is.each(is.leftOut, 'name', 'namespace'),
    ...caller,
    ...stored,
  },
  custom_tool_call: { input: STRING, ...CALL },
  custom_tool_call_output: { call_id: NAME, output: CONTENT, ...caller, ...stored },
  // Only a provider of Responses reads them: flow/routing/routes-in-order.ts.
  compaction: { encrypted_content: nonEmpty(is.text), created_by: is.leftOut, id: is.text, status: is.leftOut },
  compaction_trigger: { id: is.leftOut },
  ...OF_CLIENT,
  ...NATIVE,
  // Its container is stored at the provider, for all callers together.
  code_interpreter_call: is.dropped,
  item_reference: reference,
} satisfies Record<string, Rows | Shape>

const otherItem: Read = (sent, at) => {
  const { type, role, id } = isObject(sent) ? sent : {}
  if (type === undefined && role === undefined && id !== undefined) return reference(sent, at)
  if (type === undefined && role !== undefined) return message(sent, at)
  if (typeof sent !== 'object') return at.refuse("an item: an object with a 'type'", sent)
  at.enter('type')
  return at.refuse(Object.keys(ITEMS), type, sent)
}

export const ITEM = is.variants('type', ITEMS, otherItem)
