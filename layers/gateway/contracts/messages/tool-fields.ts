import { isText } from '../../wire/basics/field-rules.ts'
import type { Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { hostedTool } from '../../wire/chat/chat-fields.ts'
import { cacheMark } from '../../wire/chat/message-fields.ts'
import { clientKind, TOOL_TYPE, TOOLSET_TYPE, toolsetOf } from './client-tools.ts'
import { HOSTED_PATTERNS, providerTool } from './hosted-tools.ts'

// The tables of the tools of Messages: every field that goes upstream in its format, at every depth, is a row here.

const common = {
  cache_control: cacheMark,
  defer_loading: is.flag,
  strict: is.flag,
  allowed_callers: is.native(is.list(is.text, 10)),
  input_examples: is.list(is.jsonObject, 100),
}

/** Tools that the caller runs. */
const customTool = is.object({
  type: is.word('custom'),
  name: is.needed(is.text, 'a non-empty string', isText),
  description: is.text,
  input_schema: is.needed(is.jsonObject, 'an object'),
  eager_input_streaming: is.flag,
  ...common,
})
const clientTool = is.object({
  type: is.text,
  name: is.text,
  max_characters: is.integer(1),
  ...is.each(is.integer(1), 'display_width_px', 'display_height_px'),
  display_number: is.integer(0),
  enable_zoom: is.flag,
  ...common,
})
const toolset = is.object({
  type: is.text,
  configs: is.native(is.record(is.object({ enabled: is.flag, defer_loading: is.flag }), 64)),
  cache_control: cacheMark,
})

/** A search among the tools of the request, by Anthropic and without a price. */
const SEARCH = /^tool_search_tool_(?:bm25|regex)(?:_\d{8})?$/
const searchTool = is.native(is.object({ type: is.text, name: is.text, ...common }))

const otherTool = hostedTool("a tool of type 'custom', or one that Anthropic defines", 'custom')

const patterns = {
  [TOOL_TYPE.source]: clientTool,
  [TOOLSET_TYPE.source]: toolset,
  [SEARCH.source]: searchTool,
  ...HOSTED_PATTERNS,
}
export const TOOL: Shape = is.shaped({ anyOf: [customTool, { by: 'type', kinds: {}, patterns }] }, (sent, at) => {
  const type = (sent as { type?: unknown } | null)?.type ?? 'custom'
  if (type === 'custom') return customTool(sent, at)
  if (typeof type !== 'string') return otherTool(sent, at)
  if (SEARCH.test(type)) return searchTool(sent, at)
  const own = toolsetOf(type) ? toolset : clientKind(type) ? clientTool : providerTool(sent)
  return (own ?? otherTool)(sent, at)
})
