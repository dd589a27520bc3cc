import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isText } from '../../wire/basics/field-rules.ts'
import type { Read, Rows } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { ofProvider } from '../../wire/chat/message-fields.ts'
import { CHOICE, HOSTED_PATTERNS, hostedChoice, providerTool } from './hosted-tools.ts'

// The tables of the tools of Responses: every field that goes upstream in its format, at every depth, is a row here.

export const NAME = is.needed(is.text, 'a string that is not empty', isText)

const CALLERS = is.native(is.list(is.word('direct', 'programmatic'), 2))
const TOOL = { name: NAME, description: is.text, defer_loading: is.flag, async: is.native(is.flag) }
const FUNCTION = {
  ...TOOL,
  parameters: is.jsonObject,
  strict: is.flag,
  output_schema: is.native(is.jsonObject),
  allowed_callers: CALLERS,
}
const CUSTOM = {
  ...TOOL,
  format: is.object({ type: is.word('text', 'grammar'), syntax: is.text, definition: is.text }),
  allowed_callers: CALLERS,
}

const INNER = { function: FUNCTION, custom: CUSTOM } satisfies Record<string, Rows>
const SKILL = is.object(is.each(is.text, 'name', 'description', 'path'))
export const ENVIRONMENT = is.variants('type', {
  local: { skills: is.list(SKILL, 100) },
  // Read as a tool that the provider runs.
  container_auto: is.dropped,
  container_reference: { container_id: ofProvider("Use a 'local' environment") },
})

const SHELL = is.object({ type: is.word('shell'), environment: ENVIRONMENT, allowed_callers: CALLERS })

/** Tools of the client cost nothing by themselves. `otherwise` reads a tool that OpenAI runs, and any other. */
const toolsOr = (otherwise: Read) => ({
  ...INNER,
  namespace: {
    name: NAME,
    description: is.text,
    tools: is.needed(is.list(is.variants('type', INNER), 1024), 'an array'),
  },
  tool_search: { execution: is.word('server', 'client'), description: is.text, parameters: is.jsonObject },
  apply_patch: { allowed_callers: CALLERS },
  shell: is.shaped(SHELL.schema, (sent, at) => (providerTool(sent) ? otherwise : SHELL)(sent, at)),
  local_shell: {},
  computer: {},
  computer_use_preview: {
    display_width: is.integer(1),
    display_height: is.integer(1),
    environment: is.word('windows', 'mac', 'linux', 'ubuntu', 'browser'),
  },
})

/** A tool of a type that no definition knows. */
const noTool: Read = (sent, at) => {
  if (typeof sent !== 'object') return at.refuse("a tool: an object with a 'type'", sent)
  at.enter('type')
  return at.refuse(Object.keys(toolsOr(noTool)), (sent as JsonObject).type)
}
const hostedTool: Read = (sent, at) => (providerTool(sent) ?? noTool)(sent, at)
const tool = is.variants('type', toolsOr(hostedTool), hostedTool)
const KINDS = { by: 'type', kinds: toolsOr(hostedTool), patterns: HOSTED_PATTERNS }
export const LISTED_TOOL = is.shaped(KINDS, (sent, at) => tool(sent, at))
export const TOOL_LIST = is.list(LISTED_TOOL, 1024)

/** A tool that OpenAI runs is offered by the request's own list only, where its calls are bounded and priced. */
const loadedTool: Read = (sent, at) => (providerTool(sent) ? at.leaveOut('is offered in tools only') : noTool(sent, at))
const loaded = is.variants('type', toolsOr(loadedTool), loadedTool)
export const LOADED_TOOLS = is.list(
  is.shaped(KINDS, (sent, at) => loaded(sent, at)),
  1024,
)

const NAMED = { name: NAME, namespace: is.text }
const MODES = ['auto', 'required']
const noChoice: Read = (sent, at) => {
  at.enter('type')
  return at.refuse(Object.keys(CHOICES), (sent as JsonObject).type, sent)
}
const CHOSEN = {
  ...{ function: NAMED, custom: NAMED, apply_patch: {}, shell: {}, local_shell: {}, tool_search: {} },
  ...{ computer: {}, computer_use: {}, computer_use_preview: {} },
} satisfies Record<string, Rows>
const CHOICES = {
  ...CHOSEN,
  allowed_tools: {
    mode: is.needed(is.word(...MODES), MODES),
    tools: is.needed(
      is.list(is.variants('type', CHOSEN, hostedChoice(noChoice)), 1024),
      'an array of at most 1024 tools',
    ),
  },
} satisfies Record<string, Rows>

const choice = is.variants('type', CHOICES, hostedChoice(noChoice))
const patterns = Object.fromEntries(Object.keys(HOSTED_PATTERNS).map((type) => [type, CHOICE]))
export const TOOL_CHOICE = is.textOr(
  is.shaped({ by: 'type', kinds: CHOICES, patterns }, (sent, at) => choice(sent, at)),
  'an object',
  ...['none', 'auto', 'required'],
)
