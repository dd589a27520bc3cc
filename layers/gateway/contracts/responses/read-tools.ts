import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { closest } from '../../wire/basics/closest.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { namespacedName } from '../../wire/chat/namespaced-name.ts'
import { notTaken, requireText } from './not-taken.ts'

const MAX_TOOLS = 1024
/** The longest name of a function in Chat Completions. */
const MAX_NAME = 64

/** The tools of Chat Completions, and the characters by which their names are longer than the caller's own. */
export type Offer = { readonly tools: JsonObject[]; readonly addedChars: number }

/** A namespace becomes its tools: Chat Completions has no namespaces. */
export function readTools(tools: unknown): Offer {
  if (tools === undefined || tools === null) return { tools: [], addedChars: 0 }
  if (!Array.isArray(tools)) throw badField('tools', 'an array of tools', tools)
  const read: JsonObject[] = []
  const names = new Set<string>()
  let addedChars = 0
  for (const { tool, path, namespace } of flat(tools)) {
    if (read.length === MAX_TOOLS) throw badField('tools', `an array of at most ${MAX_TOOLS} tools`, tools)
    const own = requireText(tool, 'name', path)
    const name = namespacedName(namespace, own)
    if (name.length > MAX_NAME) {
      throw notTaken(`${path}.name`, `must have at most ${MAX_NAME} characters, with its namespace and two for '__'`)
    }
    if (names.has(name)) throw notTaken(`${path}.name`, 'is the name of a tool before it, too')
    names.add(name)
    addedChars += name.length - own.length
    read.push(tool.type === 'custom' ? readCustom(tool, name, path) : readFunction(tool, name))
  }
  return { tools: read, addedChars }
}

/** The tools of namespaces by their names in Chat Completions. */
export function namespacesOf(
  tools: unknown,
): ReadonlyMap<string, { readonly namespace: string; readonly name: string }> {
  const known = new Map<string, { namespace: string; name: string }>()
  if (!Array.isArray(tools)) return known
  for (const { tool, namespace } of flat(tools)) {
    if (namespace === undefined) continue
    const name = tool.name as string
    known.set(namespacedName(namespace, name), { namespace, name })
  }
  return known
}

type PlacedTool = { readonly tool: JsonObject; readonly path: string; readonly namespace?: string }

function* flat(tools: readonly unknown[]): Generator<PlacedTool, void, undefined> {
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`
    if (!isObject(tool)) throw badField(path, "a tool: an object with a 'type'", tool)
    if (tool.type !== 'namespace') {
      yield { tool: requireOwn(tool, path), path }
      continue
    }
    const namespace = requireText(tool, 'name', path)
    if (!Array.isArray(tool.tools)) throw badField(`${path}.tools`, 'an array', tool.tools)
    for (const [at, inner] of tool.tools.entries()) {
      const place = `${path}.tools[${at}]`
      if (!isObject(inner)) throw badField(place, "a tool: an object with a 'type'", inner)
      yield { tool: requireOwn(inner, place, OWN_TYPES), path: place, namespace }
    }
  }
}

const TOOL_TYPE = /^[a-z0-9_]{1,40}$/

const OWN_TYPES = ['function', 'custom']
const TOOL_TYPES = [...OWN_TYPES, 'namespace']

function requireOwn(tool: JsonObject, path: string, types = TOOL_TYPES): JsonObject {
  const { type } = tool
  if (type === 'function' || type === 'custom') return tool
  const isHosted = typeof type === 'string' && TOOL_TYPE.test(type) && closest(type, types) === undefined
  throw isHosted ? hosted(type, path) : badField(`${path}.type`, types, type, tool)
}

/** Advises a caller on what to use in place of a tool that OpenAI runs, and bills, beside the model. */
function hosted(type: string, path: string): GatewayError {
  const codex = type.startsWith('web_search') ? ' (in Codex: web_search = "disabled" in config.toml)' : ''
  return notTaken(
    `${path}.type`,
    `is '${type}', a tool that a provider runs and bills by itself. Leave it out${codex}, or offer a function of your own that does the same`,
  )
}

function readFunction(tool: JsonObject, name: string): JsonObject {
  const { description, parameters, strict } = tool
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' && { description }),
      ...(isObject(parameters) && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  }
}

function readCustom(tool: JsonObject, name: string, path: string): JsonObject {
  const { description, format } = tool
  return {
    type: 'custom',
    custom: {
      name,
      ...(typeof description === 'string' && { description }),
      ...(isObject(format) && { format: readFormat(format, `${path}.format`) }),
    },
  }
}

function readFormat({ type, syntax, definition }: JsonObject, path: string): JsonObject {
  if (type === 'text') return { type }
  if (type === 'grammar' && typeof syntax === 'string' && typeof definition === 'string') {
    return { type, grammar: { syntax, definition } }
  }
  throw badField(path, "of type text, or grammar with a 'syntax' and a 'definition'", type)
}

const WORDS: ReadonlySet<string> = new Set(['none', 'auto', 'required'])
const MODES: ReadonlySet<string> = new Set(['auto', 'required'])
const WANTED = "none, auto, required, or an object of type function or custom with a 'name', or of type allowed_tools"

/** Undefined for the default. Without tools there is nothing to choose. */
export function readToolChoice(choice: unknown, toolCount: number): unknown {
  if (choice === undefined || choice === null) return undefined
  if (WORDS.has(choice as string)) {
    if (toolCount > 0) return choice
    if (choice !== 'required') return undefined
    throw notTaken('tool_choice', "is 'required', but there are no tools")
  }
  if (!isObject(choice)) throw badField('tool_choice', typeof choice === 'string' ? [...WORDS] : WANTED, choice)
  if (choice.type !== 'allowed_tools') return readNamed(choice, 'tool_choice')
  const { mode, tools } = choice
  if (!MODES.has(mode as string)) throw badField('tool_choice.mode', [...MODES], mode)
  if (!Array.isArray(tools) || tools.length > MAX_TOOLS) {
    throw badField('tool_choice.tools', `an array of at most ${MAX_TOOLS} tools`, tools)
  }
  const named = tools.map((tool: unknown, index) => readNamed(tool, `tool_choice.tools[${index}]`))
  return { type: 'allowed_tools', allowed_tools: { mode, tools: named } }
}

function readNamed(choice: unknown, path: string): JsonObject {
  const type = isObject(choice) ? choice.type : undefined
  if (!isObject(choice) || (type !== 'function' && type !== 'custom')) {
    throw badField(path, path === 'tool_choice' ? WANTED : 'of type function or custom', choice)
  }
  return { type, [type]: { name: namespacedName(choice.namespace, requireText(choice, 'name', path)) } }
}
