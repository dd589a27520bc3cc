import type { JsonObject } from '../../domain/basics/json-object.ts'

/** A tool that Anthropic defines and the client runs, as a function for providers of other API formats. */
type ClientTool = {
  readonly description: string
  readonly properties: JsonObject
  readonly required: readonly string[]
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const range = { type: 'array', items: integer }
const EDIT = {
  ...{ path: text, file_text: text, view_range: range, old_str: text, new_str: text },
  ...{ insert_line: integer, insert_text: text },
}

/** The members of a toolset with their inputs, each of which may be left out where it makes sense. */
const MEMBERS = {
  browser:
    'navigate(url, tab_id); list_tabs(); new_tab(); switch_tab(tab_id); close_tab(tab_id); read_page(depth, filter, ref, tab_id); get_page_text(tab_id); read_console(tab_id); read_network(tab_id); find(query, tab_id); form_input(target, value, tab_id); file_upload(target, document_ids, paths, tab_id); scroll_to(target, tab_id); screenshot(tab_id); zoom(region, tab_id); left_click(target, modifiers, tab_id); right_click(target, modifiers, tab_id); middle_click(target, modifiers, tab_id); double_click(target, modifiers, tab_id); triple_click(target, modifiers, tab_id); hover(target, tab_id); left_click_drag(from, target, tab_id); left_mouse_down(target, tab_id); left_mouse_up(target, tab_id); mouse_move(target, tab_id); scroll(scroll_direction, target, scroll_amount, tab_id); type(text, tab_id); key(text, repeat, tab_id); hold_key(duration, text, tab_id); wait(duration, tab_id); javascript_exec(text, tab_id)',
  computer:
    'key(text, repeat); hold_key(duration, text); type(text); cursor_position(); mouse_move(coordinate); left_mouse_down(); left_mouse_up(); left_click(coordinate, text); left_click_drag(coordinate, start_coordinate, text); right_click(coordinate, text); middle_click(coordinate, text); double_click(coordinate, text); triple_click(coordinate, text); scroll(scroll_amount, scroll_direction, coordinate, text); wait(duration); screenshot(); zoom(region)',
}

const toolset = (name: keyof typeof MEMBERS): ClientTool => ({
  description: `Operates a ${name}. 'action' is one of these, and 'input' has its values by their names. A target is {"ref": …} or {"coordinate": [x, y]}. ${MEMBERS[name]}`,
  properties: {
    action: { enum: Array.from(MEMBERS[name].matchAll(/(\w+)\(/g), ([, member]) => member) },
    input: { type: 'object' },
  },
  required: ['action', 'input'],
})

const CLIENT_TOOLS: Readonly<Record<string, ClientTool>> = {
  bash: {
    description: 'Runs a command in a bash session that keeps its state.',
    properties: { command: text, restart: { type: 'boolean' } },
    required: [],
  },
  text_editor: {
    description: 'Views, creates and edits files.',
    properties: { command: { enum: ['view', 'create', 'str_replace', 'insert', 'undo_edit'] }, ...EDIT },
    required: ['command', 'path'],
  },
  memory: {
    description: 'Keeps notes between conversations, as files below /memories.',
    properties: {
      command: { enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      ...EDIT,
      ...{ old_path: text, new_path: text },
    },
    required: ['command'],
  },
  computer: {
    description: 'Operates a computer by its screen, mouse and keyboard. The result is a screenshot.',
    properties: {
      action: text,
      ...{ coordinate: range, start_coordinate: range, region: range, text },
      ...{ scroll_direction: { enum: ['up', 'down', 'left', 'right'] }, scroll_amount: integer, duration: integer },
    },
    required: ['action'],
  },
  browser_toolset: toolset('browser'),
  computer_toolset: toolset('computer'),
}

export const TOOL_TYPE = /^(bash|text_editor|memory|computer)_\d{8}$/
export const TOOLSET_TYPE = /^((browser|computer)_toolset)_\d{8}$/

/** The kind of a tool that Anthropic defines and the client runs, by its dated type. */
export function clientKind(type: unknown): string | undefined {
  return typeof type === 'string' ? (TOOL_TYPE.exec(type) ?? TOOLSET_TYPE.exec(type))?.[1] : undefined
}

/** The name of a toolset's function, whose calls and results are those of its members. */
export function toolsetOf(type: unknown): string | undefined {
  return typeof type === 'string' ? TOOLSET_TYPE.exec(type)?.[2] : undefined
}

export function clientFunction(tool: JsonObject): JsonObject | undefined {
  const kind = clientKind(tool.type)
  const found = kind === undefined ? undefined : CLIENT_TOOLS[kind]
  if (!found) return undefined
  const { description, properties, required } = found
  const screen = tool.display_width_px
    ? ` The screen has ${tool.display_width_px} x ${tool.display_height_px} pixels.`
    : ''
  const name = toolsetOf(tool.type) ?? tool.name
  return { name, description: `${description}${screen}`, parameters: { type: 'object', properties, required } }
}
