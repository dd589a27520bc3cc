import { type JsonObject, parseJson } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'

/** A tool that the client runs, as a function for providers of other API formats. */
export type ClientTool = {
  readonly name: string
  /** The type of an item with a call of it, and the field in which that has the arguments. */
  readonly call: string
  readonly field: 'operation' | 'action' | 'actions' | 'arguments'
  readonly description: string
  readonly parameters: JsonObject
  /** Fields that every call has beside the arguments, and that every set of arguments has. */
  readonly beside?: JsonObject
  readonly within?: JsonObject
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const texts = { type: 'array', items: text }
const objectOf = (properties: JsonObject, ...required: readonly string[]) => ({ type: 'object', properties, required })

const ACTIONS = objectOf(
  {
    actions: {
      type: 'array',
      items: objectOf(
        {
          type: { enum: ['click', 'double_click', 'drag', 'keypress', 'move', 'screenshot', 'scroll', 'type', 'wait'] },
          ...{ x: integer, y: integer, button: { enum: ['left', 'right', 'wheel', 'back', 'forward'] } },
          ...{ scroll_x: integer, scroll_y: integer, text, keys: texts },
          path: { type: 'array', items: objectOf({ x: integer, y: integer }, 'x', 'y') },
        },
        'type',
      ),
    },
  },
  'actions',
)
const computer: ClientTool = {
  name: 'computer',
  call: 'computer_call',
  field: 'actions',
  description: 'Operates a computer by actions in order. The result is a screenshot.',
  parameters: ACTIONS,
  beside: { pending_safety_checks: [] },
}

export const CLIENT_TOOLS: Readonly<Record<string, ClientTool>> = {
  apply_patch: {
    name: 'apply_patch',
    call: 'apply_patch_call',
    field: 'operation',
    description:
      "Creates, updates or deletes a file. 'diff' is in the V4A format: '@@' begins a hunk, and each line begins with a space, '-' or '+'.",
    parameters: objectOf(
      { type: { enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
      ...['type', 'path'],
    ),
  },
  shell: {
    name: 'shell',
    call: 'shell_call',
    field: 'action',
    description: 'Runs shell commands on the user’s machine and returns their output.',
    parameters: objectOf({ commands: texts, timeout_ms: integer, max_output_length: integer }, 'commands'),
  },
  local_shell: {
    name: 'local_shell',
    call: 'local_shell_call',
    field: 'action',
    description: 'Runs a command, given as a list of arguments, on the user’s machine and returns its output.',
    parameters: objectOf(
      {
        ...{ command: texts, working_directory: text, timeout_ms: integer, user: text },
        env: { type: 'object', additionalProperties: text },
      },
      'command',
    ),
    within: { type: 'exec', env: {} },
  },
  computer,
  computer_use: computer,
  computer_use_preview: { ...computer, field: 'action' },
  /** Its description and parameters are the client's own. */
  tool_search: {
    name: 'tool_search',
    call: 'tool_search_call',
    field: 'arguments',
    description: 'Searches for tools and makes those that match available.',
    parameters: objectOf({ query: text }, 'query'),
    beside: { execution: 'client' },
  },
}

export const CLIENT_CALLS: ReadonlyMap<unknown, ClientTool> = new Map(
  Object.values(CLIENT_TOOLS).map((tool) => [tool.call, tool]),
)

/** The tool behind a definition, if the client runs it: OpenAI can search for tools itself. */
export function clientToolOf({ type, execution, description, parameters }: JsonObject): ClientTool | undefined {
  const tool = CLIENT_TOOLS[String(type)]
  if (tool?.name !== 'tool_search') return tool
  if (execution !== 'client') return undefined
  const about = typeof description === 'string' ? description : tool.description
  return { ...tool, description: about, parameters: isObject(parameters) ? parameters : tool.parameters }
}

/** The arguments of a call, as the JSON text that a function's call has. */
export function argumentsOf(item: JsonObject): string {
  const { action, actions } = item
  if (item.type === 'computer_call') return JSON.stringify({ actions: actions ?? [action] })
  const given = item[CLIENT_CALLS.get(item.type)?.field ?? 'arguments'] ?? {}
  return typeof given === 'string' ? given : JSON.stringify(given)
}

/** The fields of a call's item. The arguments of a call that was cut are no JSON. */
export function callFields({ call, field, beside, within }: ClientTool, json: string): JsonObject {
  const parsed = parseJson(json)
  const given: JsonObject = isObject(parsed) ? { ...within, ...parsed } : { ...within }
  if (call !== 'computer_call') return { ...beside, [field]: given }
  const actions = Array.isArray(given.actions) ? given.actions : []
  return { ...beside, [field]: field === 'action' ? actions[0] : actions }
}

/** The result of a call, as the content of a tool's message. */
export function resultOf({ type, output, status, tools }: JsonObject, names: readonly string[]): string | JsonObject[] {
  if (type === 'computer_call_output') return [{ type: 'input_image', ...imageOf(output) }]
  if (type === 'tool_search_output') {
    return Array.isArray(tools) && names.length > 0 ? `Available now: ${names.join(', ')}` : 'No tools match.'
  }
  if (type === 'apply_patch_call_output') return output ? `${status}: ${output}` : String(status ?? 'completed')
  return typeof output === 'string' ? output : JSON.stringify(output ?? [])
}

const imageOf = (output: unknown) => ({ image_url: isObject(output) ? output.image_url : undefined })
